// deepseek-harness, its tools that keep a shell in a terminal for all commands of an agent.
// node dsh-persistent.mjs pwsh|bash FOLDER-OF-ITS-PACKAGES SHELL as-published|terminal-reply [MILLISECONDS]
// MILLISECONDS is what a command is given at most, where that is less than the request gives it.
// The tools, the terminal and the processes are the harness's own; stand-ins are the registries of agents and of tools.
import { notReported, serve, timedOut } from './protocol.mjs'
import { outcomeOf } from './dsh-answers.mjs'
import { harnessIn, policyFor } from './dsh.mjs'
import { sessionsBy } from './sessions.mjs'

const [dialect, folder, shell, terminal, mostMs = Infinity] = process.argv.slice(2)
const toolPackage = { pwsh: 'dsh-tool-pwsh-persistent', bash: 'dsh-tool-bash-persistent' }[dialect]

const { load, version } = harnessIn(folder)
const { Context, Service } = await load('cordis')
const { LocalSubprocessRuntime } = await load('dsh-subprocess-local')
const { TerminalSessionService } = await load('dsh-terminal')
const { SandboxPolicyService } = await load('dsh-sandbox-policy')
const backend = await load('dsh-terminal-bash')
const tool = await load(toolPackage)

// What ConPTY does on Windows, and nobody on Linux. PSReadLine asks the terminal where the cursor is, and waits for the
// answer. And it takes Enter for the end of a command, but a terminal of Linux makes a line feed of each that comes before
// a shell reads: the harness, which takes the echo of its own set-up for a prompt, is too early for a pwsh that starts
// slowly, and its commands then never end.
const CURSOR_REQUEST = '\x1b[6n'
const CURSOR_REPLY = '\x1b[1;1R'
const ENTER_AS_IT_IS = ['/bin/sh', '-c', 'stty -icrnl && exec "$@"', 'sh']

class AnsweringRuntime extends LocalSubprocessRuntime {
  async spawnTerminal(specification) {
    const handle = await super.spawnTerminal({ ...specification, argv: [...ENTER_AS_IT_IS, ...specification.argv] })
    let unread = ''
    handle.output.on('data', (bytes) => {
      const parts = (unread + bytes.toString('latin1')).split(CURSOR_REQUEST)
      unread = parts.pop().slice(1 - CURSOR_REQUEST.length)
      for (const _ of parts) handle.write(CURSOR_REPLY).catch(() => {}) // the shell may have ended since
    })
    return handle
  }
}

class Tools extends Service {
  constructor(context) {
    super(context, 'tools')
  }
  register(definition) {
    this.registered = definition
  }
}

class Agents extends Service {
  constructor(context) {
    super(context, 'agents')
  }
  get() {
    return this.only
  }
}

async function openSession({ session, timeout_ms: requestedMs }, cwd) {
  const timeoutMs = Math.min(requestedMs, mostMs)
  const context = new Context()
  await context.plugin(terminal === 'terminal-reply' ? AnsweringRuntime : LocalSubprocessRuntime)
  await context.plugin(Tools)
  await context.plugin(Agents)
  await context.plugin(TerminalSessionService)
  await context.plugin(SandboxPolicyService, policyFor(cwd))
  await context.plugin(backend, { shellDialect: dialect, shellPath: shell })
  await context.plugin(tool, { timeoutMs })
  const agent = { id: session, session: { id: session, header: { cwd }, events: [] } }
  await context.plugin(Object.assign((ctx) => void (agent.ctx = ctx), { inject: ['agents'] }))
  context.get('agents').only = agent
  const { registered } = context.get('tools')
  return {
    timeoutMs,
    execute: (command) => registered.execute({ command }, { agent, signal: new AbortController().signal }),
    close() {
      // An interactive bash ignores the SIGTERM by which the harness would end it, and gets three seconds for that.
      for (const { pid, status } of context.get('terminals').list(agent)) {
        if (status.kind === 'running') process.kill(pid, 'SIGKILL')
      }
      return context.fiber.dispose()
    },
  }
}

const { sessionOf, close } = sessionsBy(openSession)

async function perform(request) {
  const { execute, timeoutMs } = await sessionOf(request)
  const begin = performance.now()
  try {
    return outcomeOf(await execute(request.body))
  } catch (error) {
    // A deadline that passes before the shell has taken the command is told by an error alone.
    const overdue = performance.now() - begin >= timeoutMs
    return { status: overdue ? timedOut() : notReported(`the tool has failed: ${error.message}`) }
  }
}

const capabilities = {
  output: 'text',
  stderr: 'merged',
  statuses: ['exited', 'signalled', 'timed_out'],
  session: 'kept',
}
await serve({ name: 'deepseek-harness', version: version(toolPackage), capabilities }, perform, close)
