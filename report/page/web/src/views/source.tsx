// The submission at a checkpoint: its files, the changes since the previous checkpoint, and another solution's
// files next to it.
import { useEffect, useState } from 'preact/hooks'
import { cellName, findCell, value } from '../cells'
import { readDetails, readTree, type Details, type File, type Index, type Tree } from '../data'
import { diff, hunks, linesOf, sides, type Edit } from '../diff'
import { Text } from '../marks'
import { link, replace, type Route } from '../route'
import { count, counted } from '../text'

const mostLines = 600 // of a file, until the user expands it
const mostOpen = 3 // files expanded at first

/** Numbered lines. */
export function Code({ lines, first = 1, named = [] }: { lines: string[]; first?: number; named?: number[] }) {
  const [most, setMost] = useState(mostLines)
  return (
    <>
      <Text class="code">{lines.slice(0, most).map((l, i) => <span data-n={first + i} class={named.includes(first + i) ? 'named' : undefined}>{l + '\n'}</span>)}</Text>
      {lines.length > most && <button onClick={() => setMost(lines.length)}>Show {count(lines.length - most)} more lines</button>}
    </>)
}

/** Returns a cell of the problem for each other solution, preferably with the same backend and repeat. */
function others(x: Index, at: number): number[] {
  const c = x.cells, best = new Map<number, number>()
  const rank = (i: number) => (c.backend.at[i] === c.backend.at[at] ? 2 : 0) + (c.repeat[i] === c.repeat[at] ? 1 : 0)
  for (let i = 0; i < c.repeat.length; i++) {
    if (c.problem.at[i] !== c.problem.at[at] || c.solution.at[i] === c.solution.at[at]) continue
    const known = best.get(c.solution.at[i])
    if (known === undefined || rank(i) > rank(known)) best.set(c.solution.at[i], i)
  }
  return [...best.values()]
}

interface Shown { own?: Tree; other?: Tree; why?: string }

const lacking = (at: number | undefined) => at === -2 ? 'Omitted to limit the size of the report, which prefers sources of cells that did not pass. A report of fewer cells contains it.' : 'The store does not contain it.'

export function Source({ x, at, d, k, route }: { x: Index; at: number; d: Details; k: number; route: Route }) {
  const all = d.cell.checkpoints, before = k > 0 ? k - 1 : undefined
  const beside = findCell(x, route.params.get('beside') ?? '')
  const mode = beside !== undefined ? 'beside' : route.params.get('source') === 'files' || before === undefined ? 'files' : 'before'
  const [shown, setShown] = useState<Shown | Error>()
  useEffect(() => {
    let gone = false
    const read = async (): Promise<Shown> => {
      let place: number | undefined
      if (mode === 'before') place = d.trees![before!]
      if (mode === 'beside') {
        const other = await readDetails(x, beside!)
        place = other.trees?.[other.cell.checkpoints.findIndex(c => c.name === all[k].name)]
      }
      const [own, other] = await Promise.all([readTree(x, d.trees![k]), readTree(x, place)])
      return { own, other, why: own === undefined ? lacking(d.trees![k]) : mode !== 'files' && other === undefined ? lacking(place) : undefined }
    }
    setShown(undefined)
    read().then(s => gone || setShown(s), e => gone || setShown(e))
    return () => { gone = true }
  }, [mode, beside, k])
  const to = (change: Record<string, string>) => {
    const { source: _, beside: __, ...params } = Object.fromEntries(route.params)
    replace(link('cell', route.name, { ...params, ...change }))
  }
  const named = (path: string) => Object.values(d.shown?.[k] ?? {}).flat().map(n => d.excerpts![n]).filter(e => !e.tests && e.path === path).map(e => e.at)
  return (
    <section aria-labelledby="source">
      <h2 id="source">Source{all[k].name && ` of ${all[k].name}`}</h2>
      <p class="choice">
        <label>Show <select value={mode === 'beside' ? String(beside) : mode} onChange={e => {
          const v = e.currentTarget.value
          to(v === 'files' ? { source: 'files' } : v === 'before' ? {} : { beside: cellName(x, Number(v)) })
        }}>
          <option value="files">the files</option>
          {before !== undefined && <option value="before">changes since {all[before].name}</option>}
          {others(x, at).map(i => <option value={i}>beside {value(x.cells.solution, i)}</option>)}
        </select></label>
        {mode === 'beside' && <a href={link('cell', cellName(x, beside!), all[k].name ? { checkpoint: all[k].name } : {})}>{cellName(x, beside!)}</a>}
      </p>
      {shown === undefined ? <p class="note" role="status">Reading…</p> : shown instanceof Error ? <p class="wrong" role="alert">{shown.message}</p>
        : shown.why ? <p class="note">{shown.why}</p>
        : mode === 'files' ? <Files tree={shown.own!} named={named} />
        : mode === 'before' ? <Changes before={shown.other!} after={shown.own!} split={false} /> : <Changes before={shown.own!} after={shown.other!} split />}
    </section>)
}

function Files({ tree, named }: { tree: Tree; named: (path: string) => number[] }) {
  if (tree.files.length === 0) return <p class="note">No files.</p>
  return (
    <>
      {tree.files.map((f, i) => {
        const lines = linesOf(f.text ?? '')
        return f.note ? <p class="file"><span class="id">{f.path}</span> <span class="dim">{f.note}</span></p> : (
          <Folded name={f.path} said={counted(lines.length, 'line')} open={i < mostOpen && tree.files.length <= mostOpen || named(f.path).length > 0}>
            <Code lines={lines} named={named(f.path)} />
          </Folded>)
      })}
      <Left tree={tree} />
    </>)
}

const Left = ({ tree }: { tree: Tree }) => tree.more ? <p class="note">{counted(tree.more, 'more file')} {tree.more === 1 ? 'is' : 'are'} not shown.</p> : null

/** A file whose content becomes elements when it is expanded. */
function Folded({ name, said, open, children }: { name: string; said: string; open: boolean; children: preact.ComponentChildren }) {
  const [seen, setSeen] = useState(open)
  return <details class="file" open={open} onToggle={e => e.currentTarget.open && setSeen(true)}><summary><span class="id">{name}</span> <span class="dim">{said}</span></summary>{seen && children}</details>
}

const side = (f?: File) => f === undefined ? undefined : f.note ?? f.text ?? ''

function Changes({ before, after, split }: { before: Tree; after: Tree; split: boolean }) {
  const of = (t: Tree) => new Map(t.files.map(f => [f.path, f]))
  const was = of(before), is = of(after)
  const paths = [...new Set([...was.keys(), ...is.keys()])].sort()
  const changed = paths.filter(p => side(was.get(p)) !== side(is.get(p)) || was.get(p)?.note !== is.get(p)?.note)
  return (
    <>
      {changed.length === 0 && <p class="note">No file changed.</p>}
      {changed.map((p, i) => <Changed path={p} was={was.get(p)} is={is.get(p)} split={split} open={i < mostOpen} />)}
      {paths.length > changed.length && changed.length > 0 && <p class="dim">{counted(paths.length - changed.length, 'file')} unchanged.</p>}
      <Left tree={{ files: [], more: (before.more ?? 0) + (after.more ?? 0) }} />
    </>)
}

function Changed({ path, was, is, split, open }: { path: string; was?: File; is?: File; split: boolean; open: boolean }) {
  if (was?.note || is?.note) return <p class="file"><span class="id">{path}</span> <span class="dim">{was?.note ?? (was ? 'text' : 'absent')} → {is?.note ?? (is ? 'text' : 'absent')}</span></p>
  const edits = diff(linesOf(was?.text ?? ''), linesOf(is?.text ?? ''))
  const n = (sign: string) => count(edits.filter(e => e.sign === sign).length)
  const said = `+${n('+')} −${n('-')}` + (split ? '' : was === undefined ? ', new' : is === undefined ? ', removed' : '')
  return <Folded name={path} said={said} open={open}>{split && matchMedia('(min-width: 48rem)').matches ? <Split edits={edits} /> : <Unified edits={edits} />}</Folded>
}

function Unified({ edits }: { edits: Edit[] }) {
  const [most, setMost] = useState(mostLines)
  const all = hunks(edits).flatMap((h, i) => [...i > 0 ? [undefined] : [], ...h])
  return (
    <>
      <Text class="code">{all.slice(0, most).map(e => e === undefined ? <span class="gap" data-n="">{'⋯\n'}</span>
        : <span data-n={e.sign === '-' ? e.before : e.after} class={e.sign === '-' ? 'gone' : e.sign === '+' ? 'come' : undefined}>{e.sign + ' ' + e.text + '\n'}</span>)}</Text>
      {all.length > most && <button onClick={() => setMost(all.length)}>Show {count(all.length - most)} more lines</button>}
    </>)
}

function Split({ edits }: { edits: Edit[] }) {
  const [most, setMost] = useState(mostLines)
  const all = sides(edits)
  const half = (e: Edit | undefined, n?: number) => <><td class="n">{n}</td><td class={e === undefined ? 'none' : e.sign === ' ' ? '' : e.sign === '-' ? 'gone' : 'come'}>{e?.text}</td></>
  return (
    <>
      <div class="scroll sides" tabIndex={0} role="group" aria-label="This solution, and the other one"><table>
        <colgroup><col class="n" /><col /><col class="n" /><col /></colgroup>
        <tbody>{all.slice(0, most).map(([a, b]) => <tr>{half(a, a?.before)}{half(b, b?.after)}</tr>)}</tbody></table></div>
      {all.length > most && <button onClick={() => setMost(all.length)}>Show {count(all.length - most)} more lines</button>}
    </>)
}
