# $args is borrowed as the one variable: the body has an $args of its own that hides it.
$args = & {
    $tokens = $errors = $null
    $body = [Management.Automation.Language.Parser]::ParseInput([IO.File]::ReadAllText($args[0]), [ref] $tokens, [ref] $errors)
    if ($errors) { throw [Management.Automation.ParseException]::new($errors) }

    $ExecutionContext.InvokeCommand.PreCommandLookupAction = {
        if (([object[]] [runspace]::DefaultRunspace.Debugger.GetCallStack()).Length -eq 3 -and
            [AppContext]::SetData('pwsh-preserving', [Tuple[object, object]]::new(
                    $ExecutionContext.SessionState.PSVariable.GetValue('global:LASTEXITCODE'),
                    ($Error.Count ? $Error[0] : $null)))) { }
    }

    $verdict = {
        clean {
            if (-not $?) {
                $Host.SetShouldExit(1)
                & {
                    $before = [AppContext]::GetData('pwsh-preserving')
                    $code = $ExecutionContext.SessionState.PSVariable.GetValue('global:LASTEXITCODE')
                    $newest = $Error.Count ? $Error[0] : $null
                    $nativeEnded = -not [object]::ReferenceEquals($code, $before.Item1)
                    $failedLater = -not [object]::ReferenceEquals($newest, $before.Item2) -and
                        $newest.InvocationInfo.MyCommand -isnot [Management.Automation.CmdletInfo]
                    if ($nativeEnded -and -not $failedLater -and $code -is [int] -and $code -ne 0) {
                        $Host.SetShouldExit($code)
                    }
                }
            }
        }
    }.Ast.CleanBlock.Copy()

    $usings = foreach ($using in $body.UsingStatements) {
        $arguments = @($using.Extent; if (-not $using.ModuleSpecification) { $using.UsingStatementKind }
            foreach ($part in $using.Name, $using.Alias, $using.ModuleSpecification) { if ($part) { $part.Copy() } })
        [Activator]::CreateInstance([Management.Automation.Language.UsingStatementAst], $arguments)
    }
    [Management.Automation.Language.ScriptBlockAst]::new(
        $body.Extent, [Management.Automation.Language.UsingStatementAst[]] $usings, [Management.Automation.Language.AttributeAst[]] @(), $body.ParamBlock?.Copy(),
        $body.BeginBlock?.Copy(), $body.ProcessBlock?.Copy(), $body.EndBlock?.Copy(), $verdict, $body.DynamicParamBlock?.Copy()).GetScriptBlock()
    $body.Find({ $args[0] -is [Management.Automation.Language.VariableExpressionAst] -and $args[0].VariablePath.UserPath -eq 'input' }, $false)
} $args[0]

if ($args[1] -and [Console]::IsInputRedirected) {
    & { while ($null -ne ($line = [Console]::In.ReadLine())) { $line } } | . $args[0]
} else {
    . $args[0]
}
