// The progress of a run, which its server reports.
import { useEffect, useState } from 'preact/hooks'
import { Mark, sign, tone } from '../marks'
import { count, duration, moment } from '../text'

export interface Live {
  run: string; start?: string; nodes: number; ended: boolean; states: Record<string, number>; queued: number
  running: { addr: string; start?: string }[]; busy: number; lately: { addr: string; outcome: string; said?: string }[]; counts: Record<string, number>
}

/** Polls the progress of the run, and reloads the page when the run ends. */
export function useLive(on: boolean): Live | undefined {
  const [live, setLive] = useState<Live>()
  useEffect(() => {
    if (!on) return
    let goesOn = ''
    const source = new EventSource('live')
    source.onmessage = e => {
      const next: Live = JSON.parse(e.data)
      if (next.ended && goesOn === next.run) location.reload()
      goesOn = next.ended ? '' : next.run
      setLive(next)
    }
    return () => source.close()
  }, [on])
  return live
}

const order = ['done', 'cached', 'failed', 'timeout', 'broken', 'blocked', 'skipped', 'interrupted']

export const doneOf = (l: Live) => Object.values(l.states).reduce((a, b) => a + b, 0)

export function LiveView({ live }: { live?: Live }) {
  const [, tick] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => tick(n => n + 1), 1000)
    return () => clearInterval(timer)
  }, [])
  if (!live) return <div class="page"><p class="note" role="status">No run has started.</p></div>
  const since = (t?: string) => t ? duration(Math.max(0, Math.round((Date.now() - Date.parse(t)) / 1000))) : ''
  return (
    <div class="page">
      <section aria-labelledby="live">
        <h2 id="live">Run {live.run} {live.ended ? 'has ended' : 'in progress'}{!live.ended && live.start && <span class="dim"> since {moment(live.start)}, {since(live.start)}</span>}</h2>
        <progress max={Math.max(1, live.nodes)} value={doneOf(live)} aria-label="nodes" />
        <p>
          <b>{count(doneOf(live))}</b> of {count(live.nodes)} nodes:{' '}
          {order.filter(s => live.states[s] > 0).map(s => <span class={'chip ' + tone(s)}><span aria-hidden="true">{sign(s)}</span> {count(live.states[s])} {s}</span>)}
          {live.busy > 0 && <span class="chip o-running"><span aria-hidden="true">{sign('running')}</span> {count(live.busy)} running</span>}
          {live.queued > 0 && <span class="chip">{count(live.queued)} queued</span>}
        </p>
        {Object.keys(live.counts).length > 0 && <p>Verdicts: {Object.entries(live.counts).map(([o, n]) => <span class={'chip ' + tone(o)}><span aria-hidden="true">{sign(o)}</span> {count(n)} {o}</span>)}</p>}
      </section>
      {live.running.length > 0 && (
        <section aria-labelledby="running">
          <h2 id="running">Running</h2>
          <ul class="list">{live.running.map(r => <li key={r.addr}><Mark of="running" /><div>{r.addr} <span class="dim">{since(r.start)}</span></div></li>)}</ul>
        </section>)}
      {live.lately.length > 0 && (
        <section aria-labelledby="lately">
          <h2 id="lately">Verdicts and errors, latest first</h2>
          <ul class="list">{live.lately.map(l => <li key={l.addr}><Mark of={l.outcome} /><div>{l.addr} <span class="dim">{l.outcome}</span>{l.said && <div class="said">{l.said}</div>}</div></li>)}</ul>
        </section>)}
    </div>)
}
