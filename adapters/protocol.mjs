// The adapter protocol (`conformance schema adapter`) for systems that run in Node.js.
// Import this module first: from then on standard output belongs to the protocol, and what a package prints there goes to
// standard error.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { constants } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const LONGEST_SENTENCE = 2000

const writeLine = process.stdout.write.bind(process.stdout)
process.stdout.write = process.stderr.write.bind(process.stderr)

const send = (message) => new Promise((sent) => writeLine(`${JSON.stringify(message)}\n`, sent))

const sentence = (text) => String(text).slice(0, LONGEST_SENTENCE) || 'an error without words'

export const exited = (code) => ({ kind: 'exited', code: code >>> 0 })
export const signalled = (name) => ({ kind: 'signalled', number: constants.signals[name] })
export const timedOut = () => ({ kind: 'timed_out' })
export const failedToStart = (error) => ({
  kind: 'failed_to_start',
  errno: Math.abs(error.errno ?? 0),
  detail: sentence(error.message),
})
export const notReported = (reason) => ({ kind: 'not_reported', reason: sentence(reason) })

// The packages that are installed in a folder: how to import one, and its version.
export function packagesOf(folder) {
  const { resolve } = createRequire(join(folder, 'package.json'))
  return {
    load: (name) => import(pathToFileURL(resolve(name))),
    version: (name) => JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')).version,
  }
}

// Not node:readline, which takes U+2028 for the end of a line as well.
async function* linesOf(stream) {
  let rest = ''
  for await (const text of stream.setEncoding('utf8')) {
    const lines = (rest + text).split('\n')
    rest = lines.pop()
    yield* lines
  }
}

// Answers requests until the harness closes standard input, then calls `close` and ends the process.
// `hello` holds name, version and capabilities, or name and unavailable. `perform` gets a request whose stdin is a Buffer
// and returns { status, stdout, stderr, decision }, where an output is a Buffer, a text, or left out.
export async function serve(hello, perform, close = async () => {}) {
  let fail = (error) => console.error(error)
  // Packages lose errors in promises and events that nobody waits for; whoever is being served then is told.
  process.on('uncaughtException', (error) => fail(error))

  await send({ protocol: 1, ...hello })
  if (hello.unavailable) process.exit(0)
  for await (const line of linesOf(process.stdin)) {
    const request = JSON.parse(line)
    const lost = new Promise((_, reject) => (fail = reject))
    try {
      const work = perform({ ...request, stdin: Buffer.from(request.stdin, 'base64') })
      const { status, stdout = '', stderr = '', decision } = await Promise.race([work, lost])
      const outputs = { stdout: Buffer.from(stdout).toString('base64'), stderr: Buffer.from(stderr).toString('base64') }
      await send({ id: request.id, status, ...outputs, decision })
    } catch (error) {
      await send({ id: request.id, error: sentence(error) })
    }
  }
  await close()
  process.exit(0)
}
