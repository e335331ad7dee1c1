import type { Difference, Index } from '../data'
import { cellName } from '../cells'
import { Mark, Verdict, sign, tone } from '../marks'
import { link } from '../route'
import { count, counted, duration, moment } from '../text'

const listed = 12

export function Summary({ x }: { x: Index }) {
  const run = x.runs[x.runs.length - 1]
  const before = x.differences[x.differences.length - 1]
  return (
    <div class="page">
      <Verdicts x={x} />
      <dl class="facts">
        <Fact name="run">{run.run}</Fact>
        {run.start && <Fact name="began">{moment(run.start)}</Fact>}
        {run.ended && <Fact name="took">{duration(run.seconds)}</Fact>}
        <Fact name="nodes">{count(run.executed)} ran, {count(run.cached)} cached</Fact>
        {run.ended ? <Fact name="exit code">{run.exit}</Fact> : <Fact name="state">has not ended</Fact>}
        <Fact name="asked for">{run.selection || 'everything'}</Fact>
        <Fact name="program">fevalgraph {x.version}</Fact>
      </dl>
      {before && <Changed x={x} d={before} />}
      <Attention x={x} />
      {x.runs.length > 1 && <Runs x={x} />}
    </div>)
}

function Fact({ name, children }: { name: string; children: preact.ComponentChildren }) {
  return <div><dt>{name}</dt><dd>{children}</dd></div>
}

/** The checkpoints by outcome, as a bar and as numbers that lead to them. */
function Verdicts({ x }: { x: Index }) {
  const column = x.checkpoints.outcome
  const counts = new Map<string, number>()
  for (const at of column.at) counts.set(column.values[at], (counts.get(column.values[at]) ?? 0) + 1)
  const shown = x.outcomes.filter(o => counts.has(o))
  return (
    <section aria-labelledby="verdicts">
      <h2 id="verdicts">{counted(x.summary.cells, 'cell')}, {counted(x.summary.checkpoints, 'checkpoint')}</h2>
      <div class="bar" aria-hidden="true">
        {shown.map(o => <span class={tone(o)} style={{ flexGrow: String(counts.get(o)!) }}>{counts.get(o)! * 40 > column.at.length && <i>{sign(o)}</i>}</span>)}
      </div>
      <ul class="counts">
        {shown.map(o => (
          <li><a href={link('cells', '', { outcome: o })} class={tone(o)}>
            <b>{count(counts.get(o)!)}</b> <Verdict of={o} />
          </a></li>))}
      </ul>
      {x.summary.vacuous > 0 && <p class="note">{counted(x.summary.vacuous, 'checkpoint')} passed with no test that the policy looks at.</p>}
    </section>)
}

const kinds = ['lost', 'broken', 'flaky', 'changed', 'won', 'judged', 'stale', 'new', 'gone']

export function countKinds(d: Difference): [string, number][] {
  return kinds.map(k => [k, d.changes.filter(c => c.kind === k).length] as [string, number]).filter(([, n]) => n > 0)
}

function Changed({ x, d }: { x: Index; d: Difference }) {
  const by = countKinds(d)
  return (
    <section aria-labelledby="changed">
      <h2 id="changed"><a href={link('compare', d.before)}>Since run {d.before}</a></h2>
      {by.length === 0
        ? <p class="note">Nothing changed: {counted(d.same, 'checkpoint')} have the same verdict.</p>
        : <p>{by.map(([k, n]) => <span class={'chip ' + tone(k)}><span aria-hidden="true">{sign(k)}</span> {count(n)} {k}</span>)} <span class="dim">{count(d.same)} the same</span></p>}
      <Changes x={x} d={{ ...d, changes: d.changes.filter(c => c.kind !== 'new' && c.kind !== 'gone').slice(0, listed) }} />
      {d.changes.length > listed && <p><a href={link('compare', d.before)}>All {count(d.changes.length)} changes</a></p>}
    </section>)
}

/** Changes, each with what it comes from. */
export function Changes({ x, d }: { x: Index; d: Difference }) {
  return (
    <ul class="list">
      {d.changes.map(c => (
        <li>
          <Mark of={c.kind} />
          <div>
            {c.cell < 0 ? <b>{c.name}</b> : <a href={link('cell', cellName(x, c.cell))}>{c.name}</a>}{' '}
            <span class="dim">{[c.before, c.after].filter(Boolean).join(' → ')}</span>
            {c.before && c.after && <div class="said">{c.cause || 'cause unknown'}</div>}
            {c.test && <div class="said">{c.test}{c.said && <span class="dim"> {c.said}</span>}</div>}
          </div>
        </li>))}
    </ul>)
}

/** The cells that ask most for attention. */
function Attention({ x }: { x: Index }) {
  const rank = x.cells.outcome.values.map(o => x.outcomes.indexOf(o))
  const least = x.outcomes.indexOf('failed')
  const all: number[] = []
  for (let i = 0; i < x.cells.repeat.length; i++) if (rank[x.cells.outcome.at[i]] >= least) all.push(i)
  if (all.length === 0) return null
  const worst = all.sort((a, b) => rank[x.cells.outcome.at[b]] - rank[x.cells.outcome.at[a]] || a - b).slice(0, listed)
  return (
    <section aria-labelledby="attention">
      <h2 id="attention"><a href={link('cells', '', { sort: '-outcome' })}>Look at</a></h2>
      <ul class="list">
        {worst.map(i => (
          <li>
            <Mark of={x.cells.outcome.values[x.cells.outcome.at[i]]} />
            <div><a href={link('cell', cellName(x, i))}>{cellName(x, i)}</a><div class="said">{x.cells.remark.values[x.cells.remark.at[i]]}</div></div>
          </li>))}
      </ul>
      {all.length > worst.length && <p><a href={link('cells', '', { sort: '-outcome' })}>All {count(all.length)} cells that do not pass</a></p>}
    </section>)
}

function Runs({ x }: { x: Index }) {
  return (
    <section aria-labelledby="runs">
      <h2 id="runs">Runs</h2>
      <div class="scroll"><table>
        <thead><tr><th>run</th><th class="wide">began</th><th class="right">took</th><th>verdicts</th></tr></thead>
        <tbody>
          {[...x.runs].reverse().map((r, i) => (
            <tr><td>{i === 0 ? r.run : <a href={link('compare', r.run)}>{r.run}</a>}</td><td class="wide">{r.start ? moment(r.start) : ''}</td>
              <td class="right">{r.ended ? duration(r.seconds) : '–'}</td><td>{r.verdicts}</td></tr>))}
        </tbody>
      </table></div>
    </section>)
}
