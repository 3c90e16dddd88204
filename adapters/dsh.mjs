// What the adapters of deepseek-harness have in common: its packages, and the permission to do everything.
import { packagesOf } from './protocol.mjs'

// The packages are written for Node.js 22, where this is built in.
Promise.withResolvers ??= function () {
  let resolve, reject
  const promise = new Promise((...settle) => ([resolve, reject] = settle))
  return { promise, resolve, reject }
}

export function harnessIn(folder) {
  const { load, version } = packagesOf(folder)
  const scoped = (name) => `@deepseek-ai/${name}`
  return { load: (name) => load(scoped(name)), version: (name) => version(scoped(name)) }
}

// What a sandbox forbids is not what is tested here.
export const policyFor = (folder) => ({ mode: 'danger-full-access', workspaceRoot: folder })
