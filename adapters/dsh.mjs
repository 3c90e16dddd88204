// What the adapters of deepseek-harness have in common: its packages, and a context in which its plugins run.
import { packagesOf } from './protocol.mjs'

// The packages are written for Node.js 22, where this is built in.
Promise.withResolvers ??= function () {
  let resolve, reject
  const promise = new Promise((...settle) => ([resolve, reject] = settle))
  return { promise, resolve, reject }
}

export function harnessIn(folder) {
  const packages = packagesOf(folder)
  const load = (name) => packages.load(`@deepseek-ai/${name}`)
  return { load, version: (name) => packages.version(`@deepseek-ai/${name}`) }
}

// Commands get the environment of the process that runs the harness, but not its secrets: so this process takes that of
// the request. TMPDIR stays as it is, since the harness keeps a folder of its own there.
export function takeEnvironment(environment) {
  const { TMPDIR } = process.env
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, environment, TMPDIR && { TMPDIR })
}

// Everything is allowed: what a sandbox forbids is not what is tested here.
export const policyFor = (folder) => ({ mode: 'danger-full-access', workspaceRoot: folder })
