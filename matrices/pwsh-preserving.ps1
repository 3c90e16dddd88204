using namespace System.Management.Automation.Language

. (& {
    param($path)

    $tokens = $errors = $null
    $body = [Parser]::ParseInput([IO.File]::ReadAllText($path), [ref]$tokens, [ref]$errors)
    if ($errors) { throw [Management.Automation.ParseException]::new($errors) }

    $note = @{}
    [AppContext]::SetData('pwsh-preserving', $note)
    $ExecutionContext.InvokeCommand.PreCommandLookupAction = {
        if (($n = [AppContext]::GetData('pwsh-preserving')) -and ($n.code = $ExecutionContext.SessionState.PSVariable.GetValue('global:LASTEXITCODE'))) {}
    }

    $verdict = {
        clean {
            if (-not $?) {
                $code = $ExecutionContext.SessionState.PSVariable.GetValue('global:LASTEXITCODE')
                $n = [AppContext]::GetData('pwsh-preserving')
                if ([object]::ReferenceEquals($code, $n.code) -or $code -isnot [int] -or $code -eq 0) { $code = 1 }
                $Host.SetShouldExit($code)
            }
        }
    }.Ast.CleanBlock
    $parts = foreach ($part in $body.ParamBlock, $body.BeginBlock, $body.ProcessBlock, $body.EndBlock, $verdict, $body.DynamicParamBlock) {
        if ($part) { , $part.Copy() } else { , $null }
    }
    $usings = foreach ($using in $body.UsingStatements) {
        $arguments = @($using.Extent; if (-not $using.ModuleSpecification) { $using.UsingStatementKind }
            foreach ($part in $using.Name, $using.Alias, $using.ModuleSpecification) { if ($part) { $part.Copy() } })
        [Activator]::CreateInstance([UsingStatementAst], $arguments)
    }
    [ScriptBlockAst]::new($body.Extent, [UsingStatementAst[]]$usings, [AttributeAst[]]@(), $parts[0], $parts[1], $parts[2], $parts[3], $parts[4], $parts[5]).GetScriptBlock()
} $args[0])
