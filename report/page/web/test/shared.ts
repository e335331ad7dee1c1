// Compares what the page does itself with the program: node shared.js TESTDATA/shared.json
import { readFileSync } from 'node:fs'
import { pick } from '../src/cells'
import type { Index } from '../src/data'
import { splitArguments } from '../src/selector'
import { duration, visible } from '../src/text'

interface Shared {
  index: Index
  selectors: { args: string[]; line: string; cells: number[]; error?: boolean }[]
  visible: [string, string][]
  durations: { seconds: number; text: string }[]
}

const shared: Shared = JSON.parse(readFileSync(process.argv[2], 'utf8'))
let compared = 0, failed = 0

function same(what: string, got: unknown, want: unknown) {
  compared++
  if (JSON.stringify(got) === JSON.stringify(want)) return
  failed++
  console.error(`${what}: ${JSON.stringify(got)}, want ${JSON.stringify(want)}`)
}

for (const s of shared.selectors) {
  let got: number[] | string
  try {
    got = [...pick(shared.index, { filter: s.line, search: '', outcome: '', sort: '' })]
  } catch (e) {
    got = 'error: ' + (e as Error).message
  }
  if (s.error && typeof got === 'string') got = 'error'
  same(s.line, got, s.error ? 'error' : s.cells)
  if (!s.args.some(a => a.includes("'"))) same(`the arguments of ${s.line}`, splitArguments(s.line), s.args)
}
for (const [text, want] of shared.visible) same(`visible ${JSON.stringify(text)}`, visible(text), want)
for (const d of shared.durations) same(`duration ${d.seconds}`, duration(d.seconds), d.text)

console.log(`compared ${compared}, ${failed} differ`)
process.exit(failed === 0 && compared > 100 ? 0 : 1)
