<#
Runs the PowerShell text in a file and exits with the status of the last statement that ran:

    pwsh -NoLogo -NoProfile -NonInteractive -File pwsh-preserving.ps1 BODYFILE

    the body ends with                           exit code
    exit, $Host.SetShouldExit()                  what pwsh makes of the argument
    an error that stops it, or does not parse    1
    $? true                                      0
    $? false                                     the code of the native program (or called script's `exit`) that ended
                                                 last in the last pipeline, unless that is 0 or there was none; else 1

Neither of pwsh's own ways does: by about_Pwsh, -Command makes every native failure 1, and -File without `exit` is 0.

How it finds out:

1. A `clean` block (about_Functions_Advanced_Methods) runs however the other blocks end: behind the last line, on `return`,
   on a `break` that no loop takes, on an error, on Ctrl+C. $? is then still what the body left. So the body gets one more
   block, a `clean`, that decides. It is added to the syntax tree: the text, and with it every position in an error
   message, stays as it is, and no text can break out of it.
2. $LASTEXITCODE (about_Automatic_Variables) does not tell whose code it is. But pwsh looks up each command before it runs,
   and puts a new object there when a native program ends, even if the number is the same. So a program ended in the last
   pipeline if the object is no longer the one that was there at the last look-up.
3. An error newer than that look-up, and not from a cmdlet of the same pipeline, as of `1/0` or a caught `throw`, is a
   failure of its own and leaves 1.

What a body can see of it: $MyInvocation and Get-PSCallStack show the callers, Set-PSDebug -Trace shows the added block,
$PSScriptRoot and $PSCommandPath are empty (as with -Command), and #requires is not checked (as with -Command).

Needs PowerShell 7.3, for `clean`. The text is UTF-8, with or without byte order mark.
#>

# No variable of these is left when the body runs, but for $args, which the body's own $args hides.
$args = & {
    $ErrorActionPreference = 'Stop'     # a fault of this script must not look like a success

    $text = [IO.File]::ReadAllText($args[0])
    $tokens = $errors = $null
    $body = [Management.Automation.Language.Parser]::ParseInput($text, [ref] $tokens, [ref] $errors)
    if ($errors) { throw [Management.Automation.ParseException]::new($errors) }

    $ExecutionContext.InvokeCommand.PreCommandLookupAction = {
        [Diagnostics.DebuggerHidden()] param()      # not in the body's Set-PSDebug -Trace
        # Four frames: this block, the body, its caller, this script. Deeper look-ups are those of functions it called.
        # The condition of an `if` leaves $? alone, and a function that is being looked up here may begin by testing $?.
        if (([object[]] [runspace]::DefaultRunspace.Debugger.GetCallStack()).Length -eq 4 -and
            [AppContext]::SetData('pwsh-preserving: last look-up', [Tuple[object, object]]::new(
                    $ExecutionContext.SessionState.PSVariable.GetValue('global:LASTEXITCODE'),
                    ($Error.Count ? $Error[0] : $null)))) { }
    }

    [AppContext]::SetData('pwsh-preserving: decide', {
            [Diagnostics.DebuggerHidden()] param()
            $Host.PSBase.SetShouldExit(1)           # first, so that nothing below can turn a failure into 0
            & {     # code, newest error, what the last look-up saw: no variables, the body may have made theirs read-only
                [Diagnostics.DebuggerHidden()] param()
                if (-not [object]::ReferenceEquals($args[0], $args[2].Item1) -and ($args[0] -as [int]) -and (
                        [object]::ReferenceEquals($args[1], $args[2].Item2) -or
                        $args[1].Exception -is [Management.Automation.NativeCommandExitException] -or
                        $args[1].InvocationInfo.MyCommand -is [Management.Automation.CmdletInfo])) {
                    $Host.PSBase.SetShouldExit($args[0])
                }
            } $ExecutionContext.SessionState.PSVariable.GetValue('global:LASTEXITCODE') ($Error.Count ? $Error[0] : $null) (
                [AppContext]::GetData('pwsh-preserving: last look-up'))
        })
    $clean = { clean { if (-not $?) { & ([AppContext]::GetData('pwsh-preserving: decide')) } } }.Ast.CleanBlock.Copy()

    if ($text.Contains('SetShouldExit', 'OrdinalIgnoreCase')) {
        # Shadows the host's method: a body that calls it has decided itself, and nothing may come after that.
        $Host.PSObject.Methods.Add([psscriptmethod]::new('SetShouldExit', {
                    $this.PSBase.SetShouldExit($args[0])
                    [AppContext]::SetData('pwsh-preserving: decide', { })
                }))
    }

    # What few bodies need stands in script blocks of its own: pwsh compiles those only when they run.
    $usings = if ($body.UsingStatements.Count) {
        & {
            foreach ($using in $body.UsingStatements) {
                # Not $using.Copy(): it leaves out to copy the names, and fails.
                $arguments = @(
                    $using.Extent
                    if (-not $using.ModuleSpecification) { $using.UsingStatementKind }
                    foreach ($part in $using.Name, $using.Alias, $using.ModuleSpecification) { if ($part) { $part.Copy() } }
                )
                [Activator]::CreateInstance([Management.Automation.Language.UsingStatementAst], $arguments)
            }
        }
    }
    if ($body.CleanBlock) {
        # The body's own `clean` goes first; in a `try ... finally`, because it may leave early.
        $clean = & {
            $position = $body.CleanBlock.Extent
            $own = [Management.Automation.Language.StatementBlockAst]::new($position,
                [Management.Automation.Language.StatementAst[]] $body.CleanBlock.Statements.ForEach('Copy'),
                [Management.Automation.Language.TrapStatementAst[]] $body.CleanBlock.Traps?.ForEach('Copy'))
            $ours = [Management.Automation.Language.StatementBlockAst]::new($position,
                [Management.Automation.Language.StatementAst[]] $clean.Statements.ForEach('Copy'), $null)
            $both = [Management.Automation.Language.StatementBlockAst]::new($position,
                [Management.Automation.Language.StatementAst[]] [Management.Automation.Language.TryStatementAst]::new(
                    $position, $own, $null, $ours), $null)
            [Management.Automation.Language.NamedBlockAst]::new($position, 'Clean', $both, $false)
        }
    }

    [Management.Automation.Language.ScriptBlockAst]::new(
        $body.Extent,
        [Management.Automation.Language.UsingStatementAst[]] $usings,
        [Management.Automation.Language.AttributeAst[]] @(),    # those of param() are in ParamBlock
        $body.ParamBlock?.Copy(),
        $body.BeginBlock?.Copy(),
        $body.ProcessBlock?.Copy(),
        $body.EndBlock?.Copy(),
        $clean,
        $body.DynamicParamBlock?.Copy()).GetScriptBlock()

    # The caller of the body: not this script, or Write-Error would show its file and line as the place of the error.
    # As pwsh does, it reads standard input as lines of text for a body that names $input outside of nested blocks, and
    # leaves it to the native programs otherwise.
    if ($text.Contains('input', 'OrdinalIgnoreCase') -and [Console]::IsInputRedirected -and $body.Find({
                $args[0] -is [Management.Automation.Language.VariableExpressionAst] -and
                $args[0].VariablePath.IsVariable -and $args[0].VariablePath.UserPath -replace '^\w+:' -eq 'input'
            }, $false)) {
        [scriptblock]::Create('& { while ($null -ne ($line = [Console]::In.ReadLine())) { $line } } | . $args[0]')
    } else {
        [scriptblock]::Create('. $args[0]')
    }
} $args[0]

. $args[1] $args[0]
