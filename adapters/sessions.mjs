// For systems that keep a shell for many bodies.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// Keeps the session that was asked for last; `open` gets a request and the folder in which its session is to begin.
// That folder outlives the request's own, as the environment of this process does: a shell that had the request's would
// stand in a folder that is gone, and be taken for something that the body has left behind.
export function sessionsBy(open) {
  let name, folder, session
  async function close() {
    await session?.close()
    session = undefined
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  }
  async function sessionOf(request) {
    if (name !== request.session) {
      await close()
      folder = mkdtempSync(join(tmpdir(), 'session-'))
      name = request.session
      session = await open(request, folder)
    }
    return session
  }
  return { sessionOf, close }
}
