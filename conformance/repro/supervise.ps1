
### From here on every such script is the same: launch, wait, tell.

function Get-Leftover {
    if ($onWindows) {
        Get-CimInstance Win32_Process |
            Where-Object { $_.CommandLine -and $_.CommandLine.Replace('\', '/').Contains($folder) } |
            ForEach-Object { Get-Process -Id $_.ProcessId -ErrorAction Ignore }
    } else {
        grep -lsF "CONFORMANCE_CASE=$token" @(Get-ChildItem /proc/[0-9]*/environ -ErrorAction Ignore) |
            ForEach-Object { Get-Process -Id ($_ -split '/')[2] -ErrorAction Ignore }
    }
}

function Stop-Tree([Diagnostics.Process] $process) {
    if (-not $process.HasExited) {
        if ($onWindows) { taskkill /t /f /pid $process.Id 2>&1 | Out-Null } else { $process.Kill($true) }
    }
    Get-Leftover | Stop-Process -Force -ErrorAction Ignore
}

# The rules by which programs of Windows take their command line apart; newer versions of .NET do it themselves.
function Get-CommandLine([string[]] $words) {
    $quoted = foreach ($word in $words) {
        if ($word -and $word -notmatch '[\s"]') { $word; continue }
        '"' + ($word -replace '(\\*)"', '$1$1\"' -replace '(\\+)$', '$1$1') + '"'
    }
    $quoted -join ' '
}

function Get-Size([byte[]] $bytes) {
    $digest = [Security.Cryptography.SHA256]::Create().ComputeHash($bytes)
    '{0} bytes, sha256 {1}' -f $bytes.Length, [BitConverter]::ToString($digest).Replace('-', '').ToLowerInvariant()
}

$start = [Diagnostics.ProcessStartInfo]::new($argv[0])
if ($start.PSObject.Properties['ArgumentList']) {
    foreach ($word in $argv | Select-Object -Skip 1) { $start.ArgumentList.Add($word) }
} else {
    $start.Arguments = Get-CommandLine ($argv | Select-Object -Skip 1)
}
$start.WorkingDirectory = Join-Path $folder case/work
$start.UseShellExecute = $false
$start.RedirectStandardInput = $start.RedirectStandardOutput = $start.RedirectStandardError = $true
$start.EnvironmentVariables.Clear()
foreach ($name in $environment.Keys) { $start.EnvironmentVariables[$name] = $environment[$name] }

$stdout = [IO.MemoryStream]::new()
$stderr = [IO.MemoryStream]::new()
$status = $process = $null
try {
    $process = [Diagnostics.Process]::Start($start)
} catch {
    # Arguments that no process can take: E2BIG, and its like on Windows.
    if ($_.Exception.InnerException.NativeErrorCode -notin 7, 206) { throw }
    $status = 'failed to start'
}
if ($process) {
    $clock = [Diagnostics.Stopwatch]::StartNew()
    $readers = @(
        $process.StandardOutput.BaseStream.CopyToAsync($stdout)
        $process.StandardError.BaseStream.CopyToAsync($stderr)
    )
    $pipe = $process.StandardInput.BaseStream
    $feeder = $pipe.WriteAsync($stdin, 0, $stdin.Length)
    $end = $totalSeconds
    while (-not $process.WaitForExit(20)) {
        if ($feeder -and $feeder.IsCompleted) {
            try { $pipe.Close() } catch [IO.IOException] { } # nobody reads it any more
            $feeder = $null
        }
        if ($null -ne $secondsAfterStart -and (Test-Path "$folder/record")) {
            $end = $clock.Elapsed.TotalSeconds + $secondsAfterStart
            $secondsAfterStart = $null
        }
        if ($clock.Elapsed.TotalSeconds -ge $end) {
            $status = 'timed out'
            break
        }
    }
    if (-not $status) {
        $status = 'exited {0}' -f [BitConverter]::ToUInt32([BitConverter]::GetBytes($process.ExitCode), 0)
        [void] [Threading.Tasks.Task]::WaitAll($readers, [TimeSpan]::FromSeconds($lingerSeconds))
    }
    Stop-Tree $process
    [void] [Threading.Tasks.Task]::WaitAll($readers, [TimeSpan]::FromSeconds(5))
}

$record = @(if (Test-Path "$folder/record") { Get-Content "$folder/record" })
$came = [ordered] @{
    status = $status
    stdout = Get-Size $stdout.ToArray()
    stderr = Get-Size $stderr.ToArray()
    started = if ($record) { 'yes' } else { 'no' }
    received = @($record -match '^received ' -replace '^received (\d+) ', '$1 bytes, sha256 ')
}
foreach ($name in $came.Keys) {
    foreach ($one in $came[$name]) { "${name}: $one" }
    $bytes = if ($name -eq 'stdout') { $stdout.ToArray() } elseif ($name -eq 'stderr') { $stderr.ToArray() }
    if ($bytes -and $bytes.Length -le 256) { ' ' + [BitConverter]::ToString($bytes).Replace('-', ' ').ToLowerInvariant() }
}
$broken = foreach ($name in $came.Keys) {
    if ($expected[$name] -ne 'anything' -and -not ($came[$name] | Where-Object { $_ -in $expected[$name] })) { $name }
}
foreach ($name in $broken) { "expected ${name}: $($expected[$name] -join ', or ')" }
Remove-Item -LiteralPath $folder -Recurse -Force -ErrorAction Ignore
if ($broken) {
    "contract: broken in $broken"
    exit 1
}
'contract: kept'
exit 0
