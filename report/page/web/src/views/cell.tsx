import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { cellName, findCell, value } from '../cells'
import { readDetails, type Checkpoint, type Details, type Excerpt, type Index, type Node, type Test } from '../data'
import { Mark, Tally, Text, Verdict } from '../marks'
import { go, link, replace, type Route } from '../route'
import { escape } from '../selector'
import { bytes, count, duration, score } from '../text'
import { asked, kept, picked } from './cells'
import { Code, Source } from './source'

const shownTests = 200

export function Cell({ x, route }: { x: Index; route: Route }) {
  const at = findCell(x, route.name)
  const [details, setDetails] = useState<Details | Error>()
  useEffect(() => {
    setDetails(undefined)
    let gone = false
    if (at !== undefined) readDetails(x, at).then(d => gone || setDetails(d), e => gone || setDetails(e))
    return () => { gone = true }
  }, [x, at])
  if (at === undefined) return <div class="page"><h1>No such cell</h1><p>Run {x.runs[x.runs.length - 1].run} does not contain the cell {route.name}.</p></div>
  return (
    <article class="page">
      <Head x={x} at={at} route={route} />
      <Checkpoints x={x} at={at} route={route} />
      {details === undefined ? <p class="note" role="status">Reading…</p>
        : details instanceof Error ? <p class="wrong" role="alert">{details.message}</p>
        : <Body x={x} at={at} d={details} route={route} />}
    </article>)
}

/** The cell's name, and links to its neighbours in the table that it was opened from. */
function Head({ x, at, route }: { x: Index; at: number; route: Route }) {
  const ask = asked(route)
  const { cells } = picked(x, ask)
  const place = cells.indexOf(at)
  const [before, after] = place < 0 ? [] : [cells[place - 1], cells[place + 1]]
  useLayoutEffect(() => { // before the next frame, or a key could use another cell's neighbours
    const key = (e: KeyboardEvent) => {
      if (e.ctrlKey || e.metaKey || e.altKey || /INPUT|SELECT/.test((e.target as HTMLElement).tagName)) return
      const next = e.key === '[' ? before : e.key === ']' ? after : undefined
      if (next !== undefined) go(link('cell', cellName(x, next), kept(ask)))
    }
    addEventListener('keydown', key)
    return () => removeEventListener('keydown', key)
  })
  const c = x.cells
  const labels = Object.entries(c.labels).map(([name, col]) => [name, value(col, at)]).filter(([, v]) => v !== '')
  return (
    <header class="cellhead">
      <nav aria-label="Cells">
        <a href={link('cells', '', kept(ask))}>Cells</a>
        <span class="dim">{count(place + 1)} of {count(cells.length)}</span>
        {before !== undefined && <a href={link('cell', cellName(x, before), kept(ask))} rel="prev" title="before ( [ )">← before</a>}
        {after !== undefined && <a href={link('cell', cellName(x, after), kept(ask))} rel="next" title="after ( ] )">after →</a>}
      </nav>
      <h1>{cellName(x, at)}</h1>
      <p>
        <Verdict of={c.outcome.values[c.outcome.at[at]]} points={c.score?.[at]} />{' '}
        <span>{c.remark.values[c.remark.at[at]]}</span>
      </p>
      {labels.length > 0 && <p class="dim">{labels.map(([name, v]) => `${name} = ${v}`).join(', ')}</p>}
    </header>)
}

/** The checkpoints in each run, and their tests by group. */
function Checkpoints({ x, at, route }: { x: Index; at: number; route: Route }) {
  const { name, outcome, note, scope, seconds, score: scores, passed, total } = x.checkpoints
  const from = x.cells.from[at], to = x.cells.from[at + 1]
  const rows = Array.from({ length: to - from }, (_, i) => from + i)
  const groups = x.groups.map((g, i) => ({ g, i })).filter(({ i }) => rows.some(k => total[i][k] > 0))
  const scored = scores !== null && rows.some(k => scores[k] != null)
  const noted = rows.some(k => note.values[note.at[k]] !== '')
  const past = x.past.map((p, i) => ({ ...p, run: x.runs[i].run })).filter(p => rows.some(k => p.outcome.at[k] >= 0))
  return (
    <section aria-labelledby="checkpoints">
      <h2 id="checkpoints">Checkpoints</h2>
      <div class="scroll"><table>
        <thead><tr>
          <th>checkpoint</th>
          {past.length > 0 && <th title="in the runs of this report, earliest first">over time</th>}
          <th>verdict</th>{scored && <th class="right">score</th>}
          {groups.map(({ g }) => <th class="right">{g}</th>)}
          <th class="right">time</th>{noted && <th>note</th>}
        </tr></thead>
        <tbody>{rows.map(k => {
          const o = outcome.values[outcome.at[k]], n = name.values[name.at[k]]
          return (
            <tr>
              <th scope="row"><a href={link('cell', route.name, { ...kept(asked(route)), checkpoint: n })}>{n || '(all)'}</a></th>
              {past.length > 0 && <td class="strip">
                {past.map(p => { const was = value(p.outcome, k) || 'absent'; return <Mark of={was} title={`${p.run}: ${was}${p.score?.[k] != null ? ' ' + score(p.score[k]!) : ''}`} /> })}
                <Mark of={o} title={`${x.runs[x.runs.length - 1].run}: ${o}`} />
              </td>}
              <td><Verdict of={o} /></td>
              {scored && <td class="right">{scores[k] == null ? '·' : score(scores[k]!)}</td>}
              {groups.map(({ g, i }) => <td class="right"><Tally passed={passed[i][k]} total={total[i][k]} matters={o !== 'passed' && value(scope, k).split(' ').includes(g)} /></td>)}
              <td class="right">{duration(seconds[k])}</td>{noted && <td class="said">{note.values[note.at[k]]}</td>}
            </tr>)
        })}</tbody>
      </table></div>
    </section>)
}

function Body({ x, at, d, route }: { x: Index; at: number; d: Details; route: Route }) {
  const all = d.cell.checkpoints
  const asked = route.params.get('checkpoint')
  const c = all.find(c => c.name === asked) ?? all.find(c => !c.passed) ?? all[0], k = all.indexOf(c)
  const select = (name: string) => {
    const params = Object.fromEntries(route.params)
    replace(link('cell', route.name, { ...params, checkpoint: name }))
  }
  return (
    <>
      {d.cell.message && <Text class="message">{d.cell.message}</Text>}
      {c && (
        <section aria-labelledby="tests">
          <h2 id="tests">Tests{all.length > 1 && <> of <select aria-label="Checkpoint" value={c.name} onChange={e => select(e.currentTarget.value)}>
            {all.map(o => <option value={o.name}>{o.name}</option>)}
          </select></>}</h2>
          <Tests c={withExcerpts(d, k)} order={x.groups} key={c.name} />
        </section>)}
      {c && d.trees && <Source x={x} at={at} d={d} k={k} route={route} key={'source ' + c.name} />}
      <Nodes nodes={d.nodes.filter(n => !c || isOf(n, c) || !all.some(o => isOf(n, o)))} more={d.more ?? 0} />
    </>)
}

/** A checkpoint with the excerpts of its tests. */
function withExcerpts(d: Details, k: number): Checkpoint {
  const c = d.cell.checkpoints[k], shown = d.shown?.[k]
  return shown ? { ...c, tests: c.tests.map((t, i) => shown[i] ? { ...t, excerpts: shown[i].map(n => d.excerpts![n]) } : t) } : c
}

/** A message, next to the lines that it names. */
function Message({ of: t }: { of: Test }) {
  if (!t.excerpts) return <Text>{t.message!}</Text>
  return <div class="beside"><Text>{t.message!}</Text><div>{t.excerpts.map(e => <Lines of={e} />)}</div></div>
}

function Lines({ of: e }: { of: Excerpt }) {
  return (
    <figure class="excerpt">
      <figcaption>{e.tests ? 'test' : 'submission'} <span class="id">{e.path}:{e.at}</span></figcaption>
      <Code lines={e.lines} first={e.first} named={[e.at]} />
    </figure>)
}

/** Reports whether a node belongs to a checkpoint. */
const isOf = (n: Node, c: Checkpoint) => c.name !== '' && n.addr.includes('/' + escape(c.name) + '/')

function Tests({ c, order }: { c: Checkpoint; order: string[] }) {
  const groups = new Map<string, Test[]>(order.map(g => [g, []]))
  for (const t of c.tests) groups.set(t.group || 'cases', [...groups.get(t.group || 'cases') ?? [], t])
  const figures = Object.entries(c.figures ?? {})
  return (
    <>
      <p class="dim">{[c.policy && c.policy !== 'none' ? `passes by ${c.policy}` : '', c.class !== 'judged' ? `class ${c.class}` : '',
        c.exit_code === null ? '' : `exit code ${c.exit_code}`, `${count(c.collected)} collected`, c.isolation ? `isolation ${c.isolation}` : '',
        c.import === 'in-process' ? 'in-process, not protected' : c.import === 'separate' ? 'imported separately' : ''].filter(Boolean).join(' · ')}</p>
      {c.message && <Text class="message">{c.message}</Text>}
      {figures.length > 0 && <p>{figures.map(([k, v]) => <span class="chip">{k} {score(v)}</span>)}</p>}
      {c.tests.length === 0 && <p class="note">No tests.</p>}
      {[...groups].filter(([, tests]) => tests.length > 0).map(([name, tests], i, all) => <Group name={name} tests={tests} first={all.findIndex(([, tests]) => !tests.every(good)) === i} />)}
    </>)
}

const good = (t: Test) => t.status === 'passed'

/** Tests with equal messages, the largest group first. */
function together(tests: Test[]): Test[][] {
  const by = new Map<string, Test[]>()
  for (const t of tests) by.set(t.status + (t.message ?? ''), [...by.get(t.status + (t.message ?? '')) ?? [], t])
  return [...by.values()].sort((a, b) => b.length - a.length)
}

/** Failed tests with the same message. */
function Failures({ tests, open }: { tests: Test[]; open: boolean }) {
  if (tests.length === 1 || !tests[0].message) return <TestList tests={tests} open={open} />
  const last = tests[0].message.trim().split('\n').findLast(l => l.startsWith('E ')) ?? tests[0].message.trim().split('\n', 1)[0]
  return (
    <details class="same" open={open}>
      <summary><Mark of={tests[0].status} /> {count(tests.length)} with the same message <span class="said">{last.replace(/^E\s+/, '')}</span></summary>
      <Message of={tests[0]} />
      <TestList tests={tests.map(t => ({ ...t, message: null }))} open={false} />
    </details>)
}

function Group({ name, tests, first }: { name: string; tests: Test[]; first: boolean }) {
  const passed = tests.filter(good), others = tests.filter(t => !good(t))
  return (
    <section class="group">
      <h3>{name} <span class="dim">{passed.length}/{tests.length}</span></h3>
      {together(others).map((same, i) => <Failures tests={same} open={first && i === 0} />)}
      {passed.length > 0 && <details><summary>{count(passed.length)} passed</summary><TestList tests={passed} open={false} /></details>}
    </section>)
}

function TestList({ tests, open }: { tests: Test[]; open: boolean }) {
  const [most, setMost] = useState(shownTests)
  return (
    <>
      <ul class="tests">{tests.slice(0, most).map((t, i) => {
        const line = <><Mark of={t.status} title={t.verdict ?? t.status} /> <span class="id">{t.id}</span> {t.verdict && <b>{t.verdict}</b>} <span class="dim">{t.file} · {duration((t.cpu_ms ?? t.duration_ms) / 1000)}{t.memory_bytes !== undefined && ` · ${bytes(t.memory_bytes)}`}</span></>
        return <li>{t.message ? <details open={open && i === 0}><summary>{line}</summary><Message of={t} /></details> : <div>{line}</div>}</li>
      })}</ul>
      {tests.length > most && <button onClick={() => setMost(tests.length)}>Show {count(tests.length - most)} more</button>}
    </>)
}

/** Commands about a node, and a button that copies each. */
function Commands({ addr }: { addr: string }) {
  const [copied, setCopied] = useState('')
  const quoted = /^[\w@%+=:,./-]+$/.test(addr) ? addr : "'" + addr.replaceAll("'", "'\\''") + "'"
  const copy = async (command: string) => {
    try {
      await navigator.clipboard.writeText(`fevalgraph ${command} ${quoted}`)
      setCopied(command)
    } catch { setCopied('') } // some browsers forbid it
  }
  return <p class="commands">{['explain', 'log', 'shell'].map(c => <button title={`fevalgraph ${c} ${quoted}`} onClick={() => copy(c)}>{copied === c ? 'copied' : `copy ${c}`}</button>)}</p>
}

/** The nodes behind the verdict: why each was executed, its log and its manifest. */
function Nodes({ nodes, more }: { nodes: Node[]; more: number }) {
  if (nodes.length === 0) return null
  return (
    <section aria-labelledby="nodes">
      <h2 id="nodes">Nodes behind the verdict</h2>
      {nodes.map(n => (
        <section class="node">
          <h3><Mark of={n.state} /> {n.addr}</h3>
          <Commands addr={n.addr} />
          <p>
            <b>{n.state}</b>{n.seconds > 0 && <> in {duration(n.seconds)}</>}{n.attempt > 1 && <>, attempt {n.attempt}</>}: {n.cause || 'unknown cause'}
          </p>
          {n.files && n.files.length > 0 && <ul class="files">{n.files.map(f => <li>{f}</li>)}</ul>}
          {n.message && <Text class="message">{n.message}</Text>}
          {n.log && <details><summary>Log</summary><Text>{n.log}</Text></details>}
          {n.fields && <details><summary>Manifest, {count(n.fields.length)} fields</summary>
            <div class="scroll"><table class="manifest"><tbody>
              <tr><th scope="row">key</th><td>{n.key}</td></tr>
              {n.fields.map(([label, v]) => <tr><th scope="row">{label}</th><td>{v}</td></tr>)}
            </tbody></table></div></details>}
        </section>))}
      {more > 0 && <p class="note">{count(more)} more nodes are not shown.</p>}
    </section>)
}
