// An adapter: the harness hands it bodies, it has my-launcher run them and tells what came of each.
// Put your launcher into `launch`, and say in HELLO what it can do. Standard output is for the protocol alone: whatever
// else there is to say goes to standard error.
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { createInterface } from 'node:readline'

const SHELL = process.argv[2] ?? 'bash'
const HELLO = {
  protocol: 1,
  name: 'my-launcher',
  version: '0',
  // What is left out here, the launcher cannot do, and the cases that need it are skipped.
  capabilities: {
    stdin: 'bytes',
    output: 'bytes',
    stderr: 'separate',
    env: true,
    cwd: true,
    statuses: ['exited', 'signalled', 'timed_out', 'failed_to_start'],
  },
}

// Runs one body. Gives its status, all of its standard output and all of its standard error.
function launch({ body, stdin, cwd, env, timeout_ms }) {
  return new Promise((resolve, reject) => {
    const child = spawn(SHELL, ['-c', body], { cwd, env })
    const stdout = []
    const stderr = []
    const end = (status) => resolve({ status, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr) })
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      end({ kind: 'timed_out' }) // not on `close`, which waits for whoever else holds the streams
    }, timeout_ms)
    child.on('error', reject)
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      end(signal ? { kind: 'signalled', number: constants.signals[signal] } : { kind: 'exited', code })
    })
    child.stdout.on('data', (chunk) => stdout.push(chunk))
    child.stderr.on('data', (chunk) => stderr.push(chunk))
    child.stdin.on('error', () => {}) // a body need not read
    child.stdin.end(Buffer.from(stdin, 'base64'))
  }).catch((error) => {
    if (!error.syscall?.startsWith('spawn')) throw error
    const status = { kind: 'failed_to_start', errno: Math.abs(error.errno), detail: error.message }
    return { status, stdout: Buffer.of(), stderr: Buffer.of() }
  })
}

async function answer(request) {
  try {
    const { status, stdout, stderr } = await launch(request)
    return { id: request.id, status, stdout: stdout.toString('base64'), stderr: stderr.toString('base64') }
  } catch (error) { // it is this program that failed, which says nothing about the launcher
    return { id: request.id, error: String(error).slice(0, 2000) }
  }
}

const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`)

say(HELLO)
for await (const line of createInterface({ input: process.stdin })) say(await answer(JSON.parse(line)))
