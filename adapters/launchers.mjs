// The ways in which programs for Node.js launch shell code: node:child_process, and the libraries around it.
// Usage: node launchers.mjs MODE [FOLDER] SHELL. FOLDER holds the node_modules of the mode's library; SHELL is bash or sh.
// A mode uses its library as the documentation shows, with the library's own defaults and its own time limit. What the
// user gets back decides: what the library does not tell apart is not told apart here either.
import { exited, failedToStart, notReported, packagesOf, serve, signalled, timedOut } from './protocol.mjs'
import { exec, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { basename } from 'node:path'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

const GRACE_MS = 6000 // execa kills what ignores SIGTERM 5 seconds later

const [mode, ...rest] = process.argv.slice(2)
const shell = rest.at(-1)
const packages = packagesOf(rest[0])

const commandLine = (body) => [shell, [...(basename(shell) === 'bash' ? ['--noprofile', '--norc'] : []), '-c', body]]
const place = ({ cwd, env, timeout_ms: timeout }) => ({ cwd, env, timeout })

const ended = (code, signal) => (code === null ? signalled(signal) : exited(code))

// What ChildProcess offers: two streams, and events.
async function outcomeOf(child, stdin) {
  const output = { stdout: [], stderr: [] }
  for (const [name, chunks] of Object.entries(output)) child[name].on('data', (chunk) => chunks.push(chunk))
  child.stdin.on('error', () => {}) // a body need not read
  child.stdin.end(stdin)
  try {
    const [code, signal] = await once(child, 'close')
    const status = code === null && child.killed ? timedOut() : ended(code, signal)
    return { status, stdout: Buffer.concat(output.stdout), stderr: Buffer.concat(output.stderr) }
  } catch (error) {
    return { status: failedToStart(error) }
  }
}

const nodeSpawn = () => (request) => outcomeOf(spawn(...commandLine(request.body), place(request)), request.stdin)

const nodeSpawnShell = () => (request) => outcomeOf(spawn(request.body, { ...place(request), shell }), request.stdin)

async function crossSpawn() {
  const { default: launch } = await packages.load('cross-spawn')
  return (request) => outcomeOf(launch(...commandLine(request.body), place(request)), request.stdin)
}

function statusOfExec(error) {
  if (error === null) return exited(0)
  if (error.syscall) return failedToStart(error)
  if (typeof error.code === 'string') return notReported(`${error.code}: ${error.message}`)
  return error.code === null && error.killed ? timedOut() : ended(error.code, error.signal)
}

const nodeExec = () => (request) =>
  new Promise((answer) => {
    const child = exec(request.body, { ...place(request), shell }, (error, stdout, stderr) =>
      answer({ status: statusOfExec(error), stdout, stderr }),
    )
    child.stdin.on('error', () => {})
    child.stdin.end(request.stdin)
  })

function statusOfSpawnSync({ error, status, signal }) {
  if (!error || status !== null) return ended(status, signal)
  if (error.code === 'ETIMEDOUT') return timedOut()
  return signal === null ? failedToStart(error) : notReported(error.message)
}

const nodeSpawnSync = () => (request) => {
  const result = spawnSync(...commandLine(request.body), { ...place(request), input: request.stdin })
  return { status: statusOfSpawnSync(result), stdout: result.stdout ?? '', stderr: result.stderr ?? '' }
}

function statusOfExeca(result) {
  if (result.timedOut) return timedOut()
  if (result.exitCode !== undefined) return exited(result.exitCode)
  if (result.signal !== undefined) return signalled(result.signal)
  return result.cause?.syscall ? failedToStart(result.cause) : notReported(result.shortMessage)
}

const execaWith = (options) => async () => {
  const { execa } = await packages.load('execa')
  return async (request) => {
    const { stdin: input, body } = request
    const result = await execa(...commandLine(body), {
      ...place(request), extendEnv: false, reject: false, input, ...options,
    })
    return { status: statusOfExeca(result), stdout: result.stdout, stderr: result.stderr }
  }
}

// The body is the text of the template, as in a script of zx; what the library puts before it comes with that.
async function zx() {
  const { $ } = await packages.load('zx')
  return async (request) => {
    const input = request.stdin.length ? request.stdin : undefined
    const options = { ...place(request), shell, input, nothrow: true, quiet: true }
    const { exitCode, signal, cause, stdout, stderr } = await $(options)([request.body])
    const silent = exitCode === null && signal === null
    return { status: silent ? notReported(`${cause}`) : ended(exitCode, signal), stdout, stderr }
  }
}

async function tinyexec() {
  const { x } = await packages.load('tinyexec')
  return async (request) => {
    const { cwd, env, timeout } = place(request)
    const launched = x(...commandLine(request.body), {
      timeout, stdin: request.stdin.toString(), inheritEnv: false, nodeOptions: { cwd, env },
    })
    try {
      const { exitCode, stdout, stderr } = await launched
      return { status: exitCode === undefined ? signalled(launched.signalCode) : exited(exitCode), stdout, stderr }
    } catch (error) {
      return { status: error.name === 'AbortError' ? timedOut() : failedToStart(error) }
    }
  }
}

async function shelljs() {
  const { default: library } = await packages.load('shelljs')
  return (request) => {
    const input = new library.ShellString(request.stdin.toString())
    const { code, stdout, stderr } = input.exec(request.body, { ...place(request), shell, silent: true })
    return { status: exited(code), stdout, stderr }
  }
}

// `timed_out` stands for every mode that takes a time limit, so that what becomes of a hang is seen.
const FULL = {
  stdin: 'bytes', output: 'bytes', stderr: 'separate', env: true, cwd: true,
  statuses: ['exited', 'signalled', 'timed_out', 'failed_to_start'],
}
const NODE = { name: 'node', version: process.versions.node, capabilities: FULL }
const library = (name, capabilities = {}) => ({ name, capabilities: { ...FULL, ...capabilities } })
const MODES = {
  'node-spawn': { ...NODE, name: 'node:child_process spawn', open: nodeSpawn },
  'node-spawn-shell': { ...NODE, name: 'node:child_process spawn with shell', open: nodeSpawnShell },
  'node-spawn-sync': { ...NODE, name: 'node:child_process spawnSync', open: nodeSpawnSync, blocks: true },
  'node-exec': { ...NODE, name: 'node:child_process exec', open: nodeExec },
  'cross-spawn': { ...library('cross-spawn'), open: crossSpawn },
  execa: { ...library('execa'), open: execaWith({}) },
  'execa-raw': { ...library('execa'), open: execaWith({ encoding: 'buffer', stripFinalNewline: false }) },
  zx: { ...library('zx'), open: zx },
  tinyexec: { ...library('tinyexec', { stdin: 'text' }), open: tinyexec },
  shelljs: { ...library('shelljs', { stdin: 'text' }), open: shelljs, blocks: true },
}

// A call that blocks gets a thread of its own, so that it can be waited for with a limit.
async function inThread(request) {
  const worker = new Worker(new URL(import.meta.url), { argv: process.argv.slice(2), workerData: request })
  const [outcome] = await once(worker, 'message')
  return outcome
}

// A library that waits for the pipes answers when the last process that holds them ends: it is waited for with a limit,
// and the harness kills what is left. An exception that reaches no caller would end the user's program.
let crash = (error) => console.error(error)

async function withinLimit(perform, request) {
  let timer
  const instead = new Promise((give) => {
    const tell = (reason) => give({ status: notReported(reason) })
    crash = (error) => tell(`an exception that reaches no caller: ${error.message}`)
    timer = setTimeout(tell, request.timeout_ms + GRACE_MS, `the API has not answered within ${GRACE_MS} ms after its timeout`)
  })
  try {
    return await Promise.race([perform(request), instead])
  } finally {
    clearTimeout(timer)
  }
}

async function main() {
  const { name, version = packages.version(name), capabilities, open, blocks } = MODES[mode]
  const perform = blocks ? inThread : await open()
  process.setUncaughtExceptionCaptureCallback((error) => crash(error))
  await serve({ name, version, capabilities }, (request) => withinLimit(perform, request))
}

async function performInThread() {
  const perform = await MODES[mode].open()
  parentPort.postMessage(perform({ ...workerData, stdin: Buffer.from(workerData.stdin) }))
}

await (isMainThread ? main() : performInThread())
