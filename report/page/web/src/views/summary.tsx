import { useState } from 'preact/hooks'
import { cellName } from '../cells'
import type { Board, Change, Concern, Difference, Index } from '../data'
import { Mark, Verdict, sign, tone } from '../marks'
import { link } from '../route'
import { count, counted, duration, moment, moved } from '../text'
import { Track, axisTerm, metrics, shown } from './leaders'

const listed = 12

export function Summary({ x }: { x: Index }) {
  const before = x.differences[x.since]
  return (
    <div class="page">
      {(x.summary.cells > 0 || !x.tasks) && <Verdicts x={x} />}
      <Tasks x={x} />
      <Ranking x={x} />
      {before && <Changed x={x} d={before} />}
      <Concerns x={x} />
      <Notes x={x} />
      {x.runs.length > 1 && <Runs x={x} />}
      <Facts x={x} />
    </div>)
}

/** Details about the report's data. */
function Facts({ x }: { x: Index }) {
  const run = x.runs[x.runs.length - 1]
  if (x.foreign) return <dl class="facts"><Fact name="results">{run.run}</Fact><Fact name="read by">fevalgraph {x.version}</Fact></dl>
  return (
    <dl class="facts">
      <Fact name="run">{run.run}</Fact>
      {run.start && <Fact name="began">{moment(run.start)}</Fact>}
      {run.ended && <Fact name="took">{duration(run.seconds)}</Fact>}
      <Fact name="nodes">{count(run.executed)} ran, {count(run.cached)} cached</Fact>
      {run.ended ? <Fact name="exit code">{run.exit}</Fact> : <Fact name="state">has not ended</Fact>}
      <Fact name="asked for">{run.selection || 'everything'}</Fact>
      <Fact name="program">fevalgraph {x.version}</Fact>
    </dl>)
}

function Fact({ name, children }: { name: string; children: preact.ComponentChildren }) {
  return <div><dt>{name}</dt><dd>{children}</dd></div>
}

/** The checkpoints by outcome, as a bar and as numbers with links to them. */
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
    </section>)
}

/** The tasks, unfinished ones first. */
function Tasks({ x }: { x: Index }) {
  const [all, setAll] = useState(false)
  const tasks = x.tasks ?? []
  if (tasks.length === 0) return null
  const sorted = [...tasks].sort((a, b) => Number(a.outcome === 'done') - Number(b.outcome === 'done'))
  const undone = tasks.filter(t => t.outcome !== 'done').length
  const shown = all ? sorted : sorted.slice(0, Math.max(listed, undone))
  return (
    <section aria-labelledby="tasks">
      <h2 id="tasks">{counted(tasks.length, 'task')}{undone > 0 && `, ${count(undone)} not done`}</h2>
      <div class="scroll"><table>
        <thead><tr><th>task</th><th>state</th><th class="right">took</th><th>products</th><th>cause</th></tr></thead>
        <tbody>{shown.map(t => (
          <tr>
            <th scope="row">{t.name}</th><td><Verdict of={t.outcome} />{t.state && <span class="dim"> {t.state}</span>}</td>
            <td class="right">{t.seconds > 0 ? duration(t.seconds) : '–'}</td>
            <td>{(t.products ?? []).map(p => p.publish || p.name).join(', ')}</td>
            <td class="said">{t.message || t.cause}</td>
          </tr>))}</tbody>
      </table></div>
      {shown.length < tasks.length && <button onClick={() => setAll(true)}>Show {count(tasks.length - shown.length)} more</button>}
    </section>)
}

/** The best solutions by each metric. */
function Ranking({ x }: { x: Index }) {
  const boards = x.leaders.filter(b => b.axis === 'solution' && b.metric !== 'checkpoints')
  if (boards.length === 0) return null
  return (
    <section aria-labelledby="ranking">
      <h2 id="ranking"><a href={link('leaderboard')}>Solutions</a></h2>
      <div class={'rankings n' + Math.min(boards.length, 2)}>{boards.map(b => <Ranked key={b.metric} b={b} />)}</div>
    </section>)
}

function Ranked({ b }: { b: Board }) {
  const show = shown(b), grouped = b.rows.some(r => r.groups)
  const rows = b.rows.slice(0, listed)
  return (
    <div class="scroll">
      <table>
        <thead><tr><th>{metrics[b.metric]}</th><th class="track">mean, 95 % interval</th><th class="right">mean</th>{grouped && <th title="rows without a common letter differ significantly">group</th>}</tr></thead>
        <tbody>{rows.map(r => (
          <tr title={r.low === undefined ? undefined : `${show(r.low)} to ${show(r.high!)} over ${counted(r.problems, 'problem')}`}>
            <th scope="row"><a href={link('cells', '', { filter: axisTerm(b.axis, r.name) })}>{r.name}</a></th>
            <td class="track" aria-hidden="true"><Track r={r} board={b} /></td>
            <td class="right">{r.mean === null ? '·' : show(r.mean)}</td>
            {grouped && <td class="dim">{r.groups}</td>}
          </tr>))}</tbody>
      </table>
      {b.rows.length > rows.length && <p><a href={link('leaderboard', '', { metric: b.metric })}>All {count(b.rows.length)}</a></p>}
    </div>)
}

const kinds = ['lost', 'broken', 'flaky', 'changed', 'won', 'judged', 'stale', 'new', 'gone']

export function countKinds(changes: Change[]): [string, number][] {
  return kinds.map(k => [k, changes.filter(c => c.kind === k).length] as [string, number]).filter(([, n]) => n > 0)
}

/** The cause of a change; "" for new and missing checkpoints. */
export const causeOf = (c: Change) => c.before && c.after ? c.cause || 'cause unknown' : ''

export function byCause(changes: Change[]): [string, Change[]][] {
  const by = new Map<string, Change[]>()
  for (const c of changes) if (causeOf(c)) by.set(causeOf(c), [...by.get(causeOf(c)) ?? [], c])
  return [...by].sort((a, b) => b[1].length - a[1].length)
}

export const Kinds = ({ of }: { of: Change[] }) =>
  <>{countKinds(of).map(([k, n]) => <span class={'chip ' + tone(k)}><span aria-hidden="true">{sign(k)}</span> {count(n)} {k}</span>)}</>

function Changed({ x, d }: { x: Index; d: Difference }) {
  const causes = byCause(d.changes)
  return (
    <section aria-labelledby="changed">
      <h2 id="changed"><a href={link('compare', d.before)}>What changed since run {d.before}</a></h2>
      {d.changes.length === 0
        ? <p class="note">Nothing changed: {counted(d.same, 'checkpoint')} have the same verdict.</p>
        : <p><Kinds of={d.changes} /> <span class="dim">{count(d.same)} unchanged</span></p>}
      <ul class="list">{causes.slice(0, listed).map(([cause, changes]) => (
        <li><details>
          <summary><span class="said">{cause}</span> <Kinds of={changes} /></summary>
          <Changes x={x} changes={changes.slice(0, listed)} />
          {changes.length > listed && <p><a href={link('compare', d.before, { cause })}>All {count(changes.length)}</a></p>}
        </details></li>))}</ul>
      {causes.length > listed && <p><a href={link('compare', d.before)}>All {count(causes.length)} causes</a></p>}
    </section>)
}

/** Changes with the same cause. */
function Changes({ x, changes }: { x: Index; changes: Change[] }) {
  return (
    <ul class="list">
      {changes.map(c => (
        <li>
          <Mark of={c.kind} />
          <div>
            {c.cell < 0 ? <b>{c.name}</b> : <a href={link('cell', cellName(x, c.cell))}>{c.name}</a>}{' '}
            <span class="dim">{moved(c.before, c.after)}</span>
            {c.test && <div class="said">{c.test}{c.said && <span class="dim"> {c.said}</span>}</div>}
          </div>
        </li>))}
    </ul>)
}

/** Everything that needs attention, grouped by reason. */
function Concerns({ x }: { x: Index }) {
  const [all, setAll] = useState(false)
  if (x.concerns.length === 0) return null
  const shown = all ? x.concerns : x.concerns.slice(0, listed)
  return (
    <section aria-labelledby="attention">
      <h2 id="attention">Needs attention</h2>
      <ul class="list">{shown.map(c => <ConcernOf key={c.kind + c.text} x={x} c={c} />)}</ul>
      {shown.length < x.concerns.length && <button onClick={() => setAll(true)}>Show {count(x.concerns.length - shown.length)} more</button>}
    </section>)
}

function ConcernOf({ x, c }: { x: Index; c: Concern }) {
  return (
    <li><details>
      <summary><Mark of={c.kind} /> <span class={'verdict ' + tone(c.kind)}>{count(c.checkpoints)} {c.kind}</span> <span class="said">{c.text}</span></summary>
      <ul class="names">{c.cells.map(i => <li><a href={link('cell', cellName(x, i))}>{cellName(x, i)}</a></li>)}</ul>
      {c.more && <p class="note">and {counted(c.more, 'more checkpoint')}</p>}
    </details></li>)
}

/** Remarks on the files of other programs. */
function Notes({ x }: { x: Index }) {
  if (!x.notes?.length) return null
  return (
    <section aria-labelledby="notes">
      <h2 id="notes">Notes on the files</h2>
      <ul class="list">{x.notes.map(note => <li>{note}</li>)}</ul>
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
