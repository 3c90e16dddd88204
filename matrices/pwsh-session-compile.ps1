<#
Compiles the host of pwsh-session.ps1, with the compiler that Add-Type carries, for the pwsh that runs this:

    pwsh -NoLogo -NoProfile -NonInteractive -File pwsh-session-compile.ps1 SOURCE.cs OUT.dll
#>
try {
    Add-Type -TypeDefinition ([IO.File]::ReadAllText($args[0])) -OutputAssembly $args[1] -ErrorAction Stop
} catch {
    # Its first line is the compiler's own; shown as an error, lines about this script would come first.
    [Console]::Error.WriteLine($_.Exception.Message)
    exit 1
}
