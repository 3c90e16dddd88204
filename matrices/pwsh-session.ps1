<#
One pwsh that serves many bodies:

    pwsh -NoLogo -NoProfile -NonInteractive -File pwsh-session.ps1 HOST.dll WRAPPER.ps1 fresh|reused

HOST.dll is pwsh-session.cs, compiled by pwsh-session-compile.ps1. WRAPPER.ps1 is pwsh-preserving.ps1: each body is run
through that very text, so that the same rules decide its status as in a process of its own.

Standard input brings requests, a line each: ID FOLDER DIRECTORY. The folder holds `body` (its text), `environment`
(NAME=VALUE, each ended by NUL) and three pipes: `stdin`, `stdout`, `stderr`. Standard output gives back `ID opened` before
anything of the body runs, and `ID exited CODE` when it has ended and its streams are given up; `ID exited CODE last` where
the process is to be replaced, having grown much or lost its runspace. At the end of requests the session ends with 0; what
breaks it is told in a sentence on standard error, and it ends with 70.
#>
$null = [Reflection.Assembly]::LoadFrom($args[0])
[PwshSession.Session]::Serve($Host, $PROFILE, [IO.File]::ReadAllText($args[1]), $args[2])
