import { options, render, type ComponentType, type VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { readIndex, type Index } from './data'
import { go, link, useRoute, type Route } from './route'
import { visible } from './text'
import { Cell } from './views/cell'
import { Cells } from './views/cells'
import { Compare } from './views/compare'
import { Leaders } from './views/leaders'
import { LiveView, doneOf, useLive } from './views/live'
import { Matrix } from './views/matrix'
import { Plots } from './views/plots'
import { Problem } from './views/problem'
import { Summary } from './views/summary'
import { Timeline } from './views/timeline'

// Escapes control characters in all rendered text.
options.vnode = (node: VNode) => {
  const props = node.props as unknown
  if (node.type === null as unknown) {
    if (typeof props === 'string') (node as { props: unknown }).props = visible(props)
  } else if (typeof node.type === 'string') {
    const of = props as Record<string, unknown>
    for (const name of ['title', 'aria-label', 'placeholder']) if (typeof of[name] === 'string') of[name] = visible(of[name])
  }
}

type View = ComponentType<{ x: Index; route: Route }>
const views: [key: string, name: string, view: View][] = [
  ['summary', 'Summary', Summary], ['leaderboard', 'Leaderboard', Leaders], ['matrix', 'Matrix', Matrix], ['plots', 'Plots', Plots],
  ['compare', 'Changes', Compare], ['cells', 'Cells', Cells], ['timeline', 'Timeline', Timeline],
]

/** The views of a page; the first one is the default. */
function viewsOf(x: Index): typeof views {
  return views.filter(([key]) => !x.foreign || key !== 'timeline' && key !== 'compare')
}

/** Views whose first heading is the name of their subject. */
const named = ['cell', 'problem']

const themes = ['auto', 'light', 'dark']

function recalled(): string {
  try { return localStorage.getItem('theme') ?? 'auto' } catch { return 'auto' } // some browsers lack it for files
}

function App({ x }: { x: Index }) {
  const route = useRoute(), live = useLive(x.live ?? false), views = viewsOf(x)
  const [theme, setTheme] = useState(recalled)
  useEffect(() => {
    document.documentElement.dataset.theme = theme
    try { localStorage.setItem('theme', theme) } catch { /* the choice lasts as long as the page */ }
  }, [theme])
  useEffect(() => {
    const key = (e: KeyboardEvent) => {
      const inField = /INPUT|SELECT|TEXTAREA/.test((e.target as HTMLElement).tagName)
      if (e.key === 'Escape' && inField) (e.target as HTMLElement).blur()
      if (inField || e.ctrlKey || e.metaKey || e.altKey) return
      const view = views[Number(e.key) - 1]
      if (view) go(link(view[0]))
      else if (e.key === '/') {
        if (!document.getElementById('search')) go(link('cells'))
        requestAnimationFrame(() => document.getElementById('search')?.focus())
      } else {
        // The table handles keys unless another element has the focus.
        const table = document.querySelector<HTMLElement>('.table, .matrix')
        if (!table || e.target !== document.body || !/^(j|k|Enter|Home|End|Page(Up|Down)|Arrow(Up|Down|Left|Right))$/.test(e.key)) return
        table.focus({ preventScroll: true })
        table.dispatchEvent(new KeyboardEvent('keydown', { key: e.key }))
      }
      e.preventDefault()
    }
    addEventListener('keydown', key)
    return () => removeEventListener('keydown', key)
  }, [])
  const current = route.view === 'live' || x.live && route.view === '' && x.cells.repeat.length === 0 ? 'live'
    : route.view === 'cell' ? 'cells' : route.view === 'problem' ? 'matrix' : views.some(([key]) => key === route.view) ? route.view : views[0][0]
  const Shown = route.view === 'cell' ? Cell : route.view === 'problem' ? Problem : views.find(([key]) => key === current)?.[2]
  useEffect(() => { document.title = `${visible(x.project)}: ${route.name ? visible(route.name) : current}` }, [route])
  return (
    <>
      <header class="top">
        <a class="title" href={link(views[0][0])}>{x.project}</a>
        <nav aria-label="Views">
          {views.map(([key, name], i) => <a href={link(key)} aria-current={key === current ? 'page' : undefined} title={`${name} (${i + 1})`}>{name}</a>)}
        </nav>
        {live && <a class={'live ' + (live.ended ? 'dim' : 'o-running')} href={link('live')} aria-current={current === 'live' ? 'page' : undefined}>
          {live.ended ? 'no run in progress' : `▶ ${doneOf(live)} of ${live.nodes}`}
        </a>}
        <button class="theme" onClick={() => setTheme(themes[(themes.indexOf(theme) + 1) % themes.length])} aria-label={`Colours: ${theme}`} title={`Colours: ${theme}`}>
          {theme === 'auto' ? '◐' : theme === 'light' ? '○' : '●'}
        </button>
      </header>
      <main key={route.view + route.name}>
        {current !== 'live' && !named.includes(route.view) && <h1 class="hidden">{views.find(([key]) => key === current)?.[1]} of {x.project}</h1>}
        {Shown ? <Shown x={x} route={route} /> : <LiveView live={live} />}</main>
    </>)
}

const root = document.getElementById('app')!
readIndex().then(
  x => render(<App x={x} />, root),
  e => render(<p class="wrong" role="alert">Could not read this report: {(e as Error).message}</p>, root))
