# An adapter: the harness hands it bodies, it has my-launcher run them and tells what came of each.
# Put your launcher into Invoke-Launcher, and say in $hello what it can do. Standard output is for the protocol alone:
# whatever else there is to say goes to standard error, with [Console]::Error.WriteLine().
param([string]$shell = 'pwsh')
$ErrorActionPreference = 'Stop'
$hello = @{
    protocol     = 1
    name         = 'my-launcher'
    version      = '0'
    # What is left out here, the launcher cannot do, and the cases that need it are skipped. .NET makes a code of a
    # signal, so `signalled` is left out.
    capabilities = @{
        stdin    = 'bytes'
        output   = 'bytes'
        stderr   = 'separate'
        env      = $true
        cwd      = $true
        statuses = @('exited', 'timed_out', 'failed_to_start')
    }
}

# Runs one body. Returns its status, all of its standard output and all of its standard error.
function Invoke-Launcher($request) {
    $start = [Diagnostics.ProcessStartInfo]::new($shell)
    '-NoLogo', '-NoProfile', '-NonInteractive', '-Command', [string]$request['body'] | ForEach-Object {
        $start.ArgumentList.Add($_)
    }
    $start.WorkingDirectory = [string]$request['cwd']
    $start.Environment.Clear()
    foreach ($variable in $request['env'].AsObject()) { $start.Environment[$variable.Key] = [string]$variable.Value }
    $start.RedirectStandardInput = $start.RedirectStandardOutput = $start.RedirectStandardError = $true
    $stdout, $stderr = [IO.MemoryStream]::new(), [IO.MemoryStream]::new()
    try {
        $child = [Diagnostics.Process]::Start($start)
    } catch [ComponentModel.Win32Exception] {
        $cause = $_.Exception
        return @{ kind = 'failed_to_start'; errno = $cause.NativeErrorCode; detail = $cause.Message }, $stdout, $stderr
    }
    # All three streams at once, since one that is full stops the others; and as bytes, not as the text that PowerShell
    # would make of them.
    $copies = @(
        $child.StandardOutput.BaseStream.CopyToAsync($stdout)
        $child.StandardError.BaseStream.CopyToAsync($stderr)
    )
    $bytes = [Convert]::FromBase64String([string]$request['stdin'])
    $clock = [Diagnostics.Stopwatch]::StartNew()
    $milliseconds = [int][string]$request['timeout_ms']
    $written = $child.StandardInput.BaseStream.WriteAsync($bytes, 0, $bytes.Length)
    $ended = $child.WaitForExitAsync()
    $null = [Threading.Tasks.Task]::WaitAny(@($written, $ended), $milliseconds)
    try { $child.StandardInput.Close() } catch { } # a body need not read
    if ($ended.Wait([int][Math]::Max(0, $milliseconds - $clock.ElapsedMilliseconds))) {
        $status = @{ kind = 'exited'; code = $child.ExitCode }
    } else {
        $child.Kill($true)
        $status = @{ kind = 'timed_out' }
    }
    $null = [Threading.Tasks.Task]::WaitAll($copies, 1000) # longer only who else holds the streams
    return $status, $stdout, $stderr
}

function Get-Answer($request) {
    $id = [string]$request['id']
    try {
        $status, $stdout, $stderr = Invoke-Launcher $request
        $outputs = $stdout, $stderr | ForEach-Object { [Convert]::ToBase64String($_.ToArray()) }
        return @{ id = $id; status = $status; stdout = $outputs[0]; stderr = $outputs[1] }
    } catch { # it is this program that failed, which says nothing about the launcher
        return @{ id = $id; error = "$_" }
    }
}

function Write-Line($message) {
    [Console]::Out.WriteLine((ConvertTo-Json $message -Compress -Depth 5 -EscapeHandling EscapeNonAscii))
}

Write-Line $hello
while ($null -ne ($line = [Console]::In.ReadLine())) { # until the harness has no more
    Write-Line (Get-Answer ([Text.Json.Nodes.JsonNode]::Parse($line)))
}
