<#
One pwsh that serves many bodies:

    pwsh -NoLogo -NoProfile -NonInteractive -File pwsh-session.ps1 HOST.dll WRAPPER.ps1 fresh|reused

HOST.dll is pwsh-session.cs, compiled by pwsh-session-compile.ps1. WRAPPER.ps1 is pwsh-preserving.ps1: each body is run
through that very text, so that its status is decided by the same rules as in a process of its own.
#>
$null = [Reflection.Assembly]::LoadFrom($args[0])
exit [PwshSession.Session]::Serve($Host, [IO.File]::ReadAllText($args[1]), $args[2])
