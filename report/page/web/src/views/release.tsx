import { useState } from 'preact/hooks'
import type { ComponentChildren } from 'preact'
import type { Index, Release, ReleaseProblem, ReleaseReason } from '../data'
import { sign, tone } from '../marks'
import { link } from '../route'
import { count, counted } from '../text'

const listed = 24

const meanings: Record<string, string> = {
  reuse: 'nothing that a verdict depends on changed', regrade: 'only the grading changed', rerun: 'what solvers see changed',
  added: 'only in the new version', removed: 'only in the old version',
}

export function ReleaseView({ x }: { x: Index }) {
  const r = x.release!
  return (
    <div class="page">
      <Work r={r} />
      <Board r={r} />
      <Moved r={r} />
      <Again r={r} />
      <Problems x={x} r={r} />
    </div>)
}

const Class = ({ of }: { of: string }) => <span class={'verdict ' + tone(of)}><span aria-hidden="true">{sign(of)}</span> {of}</span>

/** The problems and trials of each class. */
function Work({ r }: { r: Release }) {
  const work = r.work.filter(w => w.problems + w.trials > 0), tried = r.trials.length > 0
  return (
    <section aria-labelledby="work">
      <h2 id="work">{counted(r.problems.length, 'problem')}{tried && ` and ${counted(r.trials.length, 'trial')}`}, from {r.old} to {r.new}</h2>
      <div class="bar" aria-hidden="true">
        {work.map(w => <span class={tone(w.class)} style={{ flexGrow: String(w.problems) }}>{w.problems * 40 > r.problems.length && <i>{sign(w.class)}</i>}</span>)}
      </div>
      <div class="scroll" tabIndex={0}><table>
        <thead><tr><th>class</th><th class="wide">meaning</th><th class="right">problems</th>{tried && <><th class="right">trials</th><th class="right">last cost</th></>}</tr></thead>
        <tbody>{work.map(w => (
          <tr>
            <th scope="row"><Class of={w.class} /></th><td class="wide dim">{meanings[w.class]}</td><td class="right">{count(w.problems)}</td>
            {tried && <><td class="right">{count(w.trials)}</td><td class="right">{w.trials === w.unknown_costs ? '–' : dollars(w.cost_usd)}{w.unknown_costs > 0 && w.trials > w.unknown_costs && <span class="dim">, {count(w.unknown_costs)} unknown</span>}</td></>}
          </tr>))}</tbody>
      </table></div>
      {!!r.ungraded && <p class="wrong">{counted(r.ungraded, 'trial')} could not be graded again.</p>}
      {r.unloadable && <p class="note">Neither version can load {r.unloadable.join(', ')}: only files were compared.</p>}
      {r.tags && <p class="note">No trial records the image of a tag: {r.tags.join(', ')}</p>}
      {!r.graded && tried && <p class="note">No trial was graded again: <code>--grade</code> does, and compares leaderboards.</p>}
    </section>)
}

const dollars = (cost: number) => '$' + cost.toFixed(2)
const three = (v: number) => v.toFixed(3)
const signed = (v: number) => (v < 0 ? '−' : '+') + three(Math.abs(v))

/** The leaderboards before and after, from trials with a score in both versions. */
function Board({ r }: { r: Release }) {
  const rows = r.board ?? []
  if (rows.length === 0) return null
  const most = Math.max(1e-9, ...rows.flatMap(b => [b.difference, b.low ?? 0, b.high ?? 0].map(Math.abs)))
  const at = (v: number) => 50 + 48 * v / most
  return (
    <section aria-labelledby="board">
      <h2 id="board">Leaderboard before and after</h2>
      <div class="scroll" tabIndex={0}><table>
        <thead><tr>
          <th>agent</th><th>model</th><th class="right">before</th><th class="right">after</th><th class="right">difference</th><th class="right">95 % interval</th>
          <th class="track wide">difference and interval</th><th class="right">trials</th><th class="right">run again</th>
        </tr></thead>
        <tbody>{rows.map(b => (
          <tr>
            <th scope="row">{b.agent || '–'}</th><td>{b.model || '–'}</td>
            <td class="right">{b.trials ? three(b.before) : '–'}</td><td class="right">{b.trials ? three(b.after) : '–'}</td><td class="right">{b.trials ? signed(b.difference) : '–'}</td>
            <td class="right dim">{b.low !== null && b.high !== null ? `${signed(b.low)} to ${signed(b.high)}` : b.difference !== 0 ? 'too few problems' : '·'}</td>
            <td class="track wide" aria-hidden="true">{b.trials > 0 && <div class="bars">
              <span class="zero" />
              {b.low !== null && b.high !== null && <span class="whisker" style={{ left: `${at(b.low)}%`, width: `${at(b.high) - at(b.low)}%` }} />}
              <span class="point" style={{ left: `${at(b.difference)}%` }} />
            </div>}</td>
            <td class="right">{count(b.trials)}</td><td class="right">{b.again ? count(b.again) : <span class="dim">·</span>}</td>
          </tr>))}</tbody>
      </table></div>
      <p class="note">Means over problems, of the trials that have a score in both versions. Intervals are paired by problem. Means exclude trials that must run again.</p>
    </section>)
}

/** Scores that moved, by cause. */
function Moved({ r }: { r: Release }) {
  const moved = r.moved ?? []
  const [shown, more] = useListed(moved)
  if (moved.length === 0) return null
  return (
    <section aria-labelledby="moved">
      <h2 id="moved">Scores moved by</h2>
      <div class="scroll" tabIndex={0}><table>
        <thead><tr><th>cause</th><th class="right">lost</th><th class="right">won</th></tr></thead>
        <tbody>{shown.map(m => (
          <tr><td class="said">{m.cause || 'unknown'}</td><td class={'right ' + (m.lost ? tone('lost') : 'dim')}>{count(m.lost)}</td><td class={'right ' + (m.won ? tone('won') : 'dim')}>{count(m.won)}</td></tr>))}</tbody>
      </table></div>
      {more}
    </section>)
}

/** Trials that must run again, with their last cost. */
function Again({ r }: { r: Release }) {
  const trials = r.trials.filter(t => t.class === 'rerun')
  const [shown, more] = useListed(trials)
  if (trials.length === 0) return null
  const causes = new Map(r.problems.map(p => [p.was || p.name, p.checkpoints.find(c => c.class === 'rerun' || c.class === 'added')?.reason]))
  return (
    <section aria-labelledby="again">
      <h2 id="again">{counted(trials.length, 'trial')} must run again</h2>
      <div class="scroll" tabIndex={0}><table>
        <thead><tr><th>trial</th><th>agent</th><th>model</th><th class="right">last cost</th><th class="wide">because</th></tr></thead>
        <tbody>{shown.map(t => (
          <tr>
            <th scope="row">{t.name}</th><td>{t.agent || '–'}</td><td>{t.model || '–'}</td><td class="right">{t.cost_usd === null ? '–' : dollars(t.cost_usd)}</td>
            <td class="said wide">{t.why || reasonOf(causes.get(t.problem))}</td>
          </tr>))}</tbody>
      </table></div>
      {more}
    </section>)
}

/** The problems by class, with the reason. */
function Problems({ x, r }: { x: Index; r: Release }) {
  const classes = r.work.filter(w => w.problems > 0).map(w => w.class)
  const [only, setOnly] = useState('')
  const rows = r.problems.filter(p => only === '' || p.class === only).sort((a, b) => Number(a.class === 'reuse') - Number(b.class === 'reuse')).flatMap(rowsOf)
  const [shown, more] = useListed(rows)
  const linked = new Set(x.matrix.problems)
  return (
    <section aria-labelledby="problems">
      <h2 id="problems">Problems</h2>
      <p class="kinds" role="group" aria-label="Classes of problems">{classes.map(c => (
        <button class={'chip ' + tone(c)} aria-pressed={only === c} onClick={() => setOnly(only === c ? '' : c)}><span aria-hidden="true">{sign(c)}</span> {c}</button>))}
      </p>
      <div class="scroll" tabIndex={0}><table>
        <thead><tr><th>class</th><th>problem</th><th>version</th><th>because</th></tr></thead>
        <tbody>{shown.map(row => (
          <tr>
            <td><Class of={row.class} /></td>
            <th scope="row" class="whole">{linked.has(row.problem) ? <a href={link('problem', row.problem)}>{row.name}</a> : row.name}</th>
            <td class="whole">{row.version}</td>
            <td class="said">{row.reason}{row.diff && <> <span class="id">{row.diff}</span></>}{row.more}{row.wrong && <div class="wrong">{row.wrong}</div>}</td>
          </tr>))}</tbody>
      </table></div>
      {more}
    </section>)
}

/** The rows of a problem: one, unless its checkpoints differ. */
function rowsOf(p: ReleaseProblem) {
  const { old = '', new: now = '', wrong } = p.version
  const first = p.checkpoints[0], same = p.checkpoints.every(c => c.class === first.class && reasonOf(c.reason) === reasonOf(first.reason))
  const row = (of: string, name: string, reason?: ReleaseReason) => ({
    class: of, problem: p.name, name, reason: reasonOf(reason), diff: reason?.diff, more: reason?.more ? `, and ${counted(reason.more, 'other change')}` : '', version: '', wrong: undefined as string | undefined,
  })
  const head = { ...row(p.class, p.was ? `${p.name} (was ${p.was})` : p.name, same ? first?.reason : undefined), version: old && now && old !== now ? `${old} → ${now}` : now || old, wrong }
  return same ? [head] : [head, ...p.checkpoints.map(c => row(c.class, `${p.name}/${c.name}`, c.reason))]
}

/** The file that decides the class, and its change. A setting can begin with the name of its file. */
function reasonOf(r?: ReleaseReason): string {
  if (!r) return ''
  const file = r.file ?? '', base = file.slice(file.lastIndexOf('/') + 1)
  return base && r.what.startsWith(base + ' ') ? file.slice(0, -base.length) + r.what : file ? `${file} ${r.what}` : r.what
}

/** The beginning of a list, and a button that shows the rest. */
function useListed<T>(all: T[]): [T[], ComponentChildren] {
  const [whole, setWhole] = useState(false)
  const shown = whole ? all : all.slice(0, listed)
  return [shown, shown.length < all.length && <button onClick={() => setWhole(true)}>Show {count(all.length - shown.length)} more</button>]
}
