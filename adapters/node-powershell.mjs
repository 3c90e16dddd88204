// node-powershell, which keeps a PowerShell that reads code from its standard input.
// node node-powershell.mjs FOLDER-OF-ITS-PACKAGES SHELL
import { exited, failedToStart, notReported, packagesOf, serve, signalled, timedOut } from './protocol.mjs'
import { sessionsBy } from './sessions.mjs'

const [folder, shell] = process.argv.slice(2)
const packages = packagesOf(folder)
const { PowerShell } = await packages.load('node-powershell')
delete process.env.NODE_POWERSHELL // which would name another shell

function openSession({ timeout_ms: invocationTimeout }, cwd) {
  const powershell = new PowerShell({
    executable: shell,
    executableOptions: { '-NoProfile': true },
    invocationTimeout,
    spawnOptions: { cwd },
    throwOnInvocationError: false, // what an error holds is in the result as well
  })
  return {
    invoke: (command) => powershell.invoke(command),
    process: powershell.process,
    close: () => powershell.dispose('SIGKILL').catch(() => {}),
  }
}

const { sessionOf, close } = sessionsBy(openSession)

async function perform(request) {
  const session = await sessionOf(request)
  try {
    const { stdout, stderr, hadErrors } = await session.invoke(request.body)
    if (stdout !== undefined) {
      return { status: notReported(`node-powershell tells no exit code; hadErrors is ${hadErrors}`), stdout, stderr }
    }
  } catch (error) {
    if (error.name === 'InvocationError') return { status: notReported(`node-powershell says: ${error.message}`) }
    if (error.name !== 'ProcessError') throw error
    if (error.originalError?.syscall?.startsWith('spawn')) return { status: failedToStart(error.originalError) }
  }
  // There is no output either where the shell has ended or the time is over.
  const { exitCode, signalCode } = session.process
  if (signalCode !== null) return { status: signalled(signalCode) }
  return { status: exitCode === null ? timedOut() : exited(exitCode) }
}

const capabilities = {
  output: 'text',
  stderr: 'separate',
  statuses: ['exited', 'signalled', 'timed_out', 'failed_to_start'],
  session: 'kept',
}
const hello = { name: 'node-powershell', version: packages.version('node-powershell'), capabilities }
await serve(hello, perform, close)
