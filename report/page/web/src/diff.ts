// Line differences between two texts.

/** A line of one or both sides, with its numbers, from 1. */
export interface Edit { sign: ' ' | '-' | '+'; text: string; before: number; after: number }

/** Limits the search: beyond it, all lines from the first to the last difference are shown as changed. */
const mostEdits = 1200

export const linesOf = (text: string) => text === '' ? [] : text.replace(/\n$/, '').split('\n')

/** Returns the shortest edit script between two lists of lines, by Myers' algorithm. */
export function diff(before: string[], after: string[]): Edit[] {
  let head = 0, tail = 0
  const least = Math.min(before.length, after.length)
  while (head < least && before[head] === after[head]) head++
  while (tail < least - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++
  const a = before.slice(head, before.length - tail), b = after.slice(head, after.length - tail)
  const edits: Edit[] = []
  let i = 0, k = 0
  const both = () => edits.push({ sign: ' ', text: before[i], before: ++i, after: ++k })
  const minus = () => edits.push({ sign: '-', text: before[i], before: ++i, after: k })
  const plus = () => edits.push({ sign: '+', text: after[k], before: i, after: ++k })
  while (i < head) both()
  for (const sign of path(a, b) ?? [...a.map(() => minus), ...b.map(() => plus)].map(f => f === minus ? '-' : '+')) sign === ' ' ? both() : sign === '-' ? minus() : plus()
  while (i < before.length) both()
  return edits
}

/** Returns the signs of the edits from a to b, or undefined if too many lines differ. */
function path(a: string[], b: string[]): string[] | undefined {
  const n = a.length, m = b.length, trace: Int32Array[] = []
  const most = Math.min(n + m, mostEdits), reach = new Int32Array(2 * most + 3), zero = most + 1
  for (let d = 0; d <= most; d++) {
    trace.push(reach.slice(zero - d - 1, zero + d + 2))
    for (let k = -d; k <= d; k += 2) {
      let x = k === -d || k !== d && reach[zero + k - 1] < reach[zero + k + 1] ? reach[zero + k + 1] : reach[zero + k - 1] + 1
      while (x < n && x - k < m && a[x] === b[x - k]) x++
      reach[zero + k] = x
      if (x >= n && x - k >= m) return back(trace, n, m)
    }
  }
  return undefined
}

function back(trace: Int32Array[], x: number, y: number): string[] {
  const signs: string[] = []
  for (let d = trace.length - 1; d >= 0; d--) {
    const reach = trace[d], zero = d + 1, k = x - y
    const down = k === -d || k !== d && reach[zero + k - 1] < reach[zero + k + 1]
    const from = down ? k + 1 : k - 1, start = d === 0 ? 0 : reach[zero + from]
    const begin = d === 0 ? 0 : down ? start : start + 1
    for (; x > begin; x--, y--) signs.push(' ')
    if (d > 0) {
      signs.push(down ? '+' : '-')
      x = start
      y = start - from
    }
  }
  return signs.reverse()
}

/** Groups consecutive edits near differences. */
export function hunks(edits: Edit[], context = 3): Edit[][] {
  const near = new Uint8Array(edits.length)
  edits.forEach((e, i) => { if (e.sign !== ' ') near.fill(1, Math.max(0, i - context), i + context + 1) })
  const all: Edit[][] = []
  edits.forEach((e, i) => {
    if (!near[i]) return
    if (!near[i - 1]) all.push([])
    all[all.length - 1].push(e)
  })
  return all
}

/** Arranges edits in two columns: removed lines next to their replacements. */
export function sides(edits: Edit[]): [before?: Edit, after?: Edit][] {
  const rows: [before?: Edit, after?: Edit][] = []
  for (let i = 0; i < edits.length;) {
    if (edits[i].sign === ' ') {
      rows.push([edits[i], edits[i++]])
      continue
    }
    const removed: Edit[] = [], added: Edit[] = []
    for (; i < edits.length && edits[i].sign !== ' '; i++) (edits[i].sign === '-' ? removed : added).push(edits[i])
    for (let k = 0; k < Math.max(removed.length, added.length); k++) rows.push([removed[k], added[k]])
  }
  return rows
}
