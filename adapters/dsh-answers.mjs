// What the persistent tools of deepseek-harness answer: one text, in which the status stands as well.
import { constants } from 'node:os'
import { exited, notReported, signalled, timedOut } from './protocol.mjs'

const RESET = /\nThe persistent \w+ shell was reset; the next \w+ call starts from the workspace .*$/
const TIMED_OUT = /^Your command timed out after \d+ seconds or experienced an OOM error\. Below is partial output:\n/
const SHELL_ENDED = /(?:^|\n)\[shell (?:exited: code (?<code>\d+)|killed by signal: (?<signal>\w+)|exited)\]$/
const EXIT_CODE = /(?:^|\n)\[exit code: (?<code>\d+)\]$/

// The model is told no more than the text, and takes one without a status for a success.
export function outcomeOf(text) {
  const answer = text.replace(RESET, '')
  if (TIMED_OUT.test(answer)) return { status: timedOut(), stdout: answer.replace(TIMED_OUT, '') }
  const marker = (answer === text ? EXIT_CODE : SHELL_ENDED).exec(answer)
  if (marker === null) return { status: exited(0), stdout: answer }
  return { status: statusOf(marker.groups), stdout: answer.slice(0, marker.index) }
}

function statusOf({ code, signal }) {
  if (code !== undefined) return exited(Number(code))
  return signal in constants.signals ? signalled(signal) : notReported('the shell has exited, and nothing tells how')
}
