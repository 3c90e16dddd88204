// deepseek-harness, its tools that start a shell for each command.
// node dsh-one-shot.mjs pwsh|bash FOLDER-OF-ITS-PACKAGES SHELL
import { exited, failedToStart, serve, signalled, timedOut } from './protocol.mjs'
import { delimiter, dirname } from 'node:path'
import { harnessIn, policyFor } from './dsh.mjs'

const [dialect, folder, shell] = process.argv.slice(2)
const executor = { pwsh: 'dsh-pwsh-local', bash: 'dsh-bash-local' }[dialect]
// Only pwsh can be named; bash is the first on PATH.
const config = dialect === 'pwsh' ? { pwshPath: shell } : {}
const pathOf = (environment) => `${dirname(shell)}${delimiter}${environment.PATH ?? ''}`

const { load, version } = harnessIn(folder)
const { Context } = await load('cordis')
const { LocalSubprocessRuntime } = await load('dsh-subprocess-local')
const { default: Executor } = await load(executor)
const context = new Context()
await context.plugin(LocalSubprocessRuntime)
await context.plugin(Executor, config)

// Commands get the environment of this process as well, so it takes that of the request. TMPDIR stays as it is, since the
// harness keeps a folder of its own there.
function takeEnvironment(environment) {
  const { TMPDIR } = process.env
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, environment, TMPDIR && { TMPDIR })
}

function statusOf({ timedOut: hasTimedOut, signal, exitCode }) {
  if (hasTimedOut) return timedOut()
  return signal === null ? exited(exitCode) : signalled(signal)
}

async function perform({ body, stdin, cwd, env, timeout_ms: timeoutMs }) {
  const environment = dialect === 'bash' ? { ...env, PATH: pathOf(env) } : env
  takeEnvironment(environment)
  // Its type says that stdin is a string; a Buffer arrives unchanged.
  const request = { command: body, workdir: cwd, env: environment, stdin, timeoutMs, sandboxPolicy: policyFor(cwd) }
  try {
    const result = await context.shell.run(context.shell.resolve(request))
    return { status: statusOf(result), stdout: result.stdout.text, stderr: result.stderr.text }
  } catch (error) {
    if (!error.syscall?.startsWith('spawn')) throw error
    return { status: failedToStart(error) }
  }
}

const capabilities = {
  stdin: 'bytes',
  output: 'text',
  stderr: 'separate',
  env: true,
  cwd: true,
  statuses: ['exited', 'signalled', 'timed_out', 'failed_to_start'],
}
const hello = { name: 'deepseek-harness', version: version(executor), capabilities }
await serve(hello, perform, () => context.fiber.dispose())
