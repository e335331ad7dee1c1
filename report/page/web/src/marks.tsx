import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { score } from './text'

/** A sign for each outcome, so that colour is never the only difference. */
const signs: Record<string, string> = {
  passed: '✓', scored: '=', skipped: '–', failed: '✗', 'not reached': '∅', errored: '!', broken: '?', error: '!', timeout: '!',
  lost: '↓', won: '↑', flaky: '≈', changed: '±', judged: '✓', stale: '~', new: '+', gone: '−',
  absent: '·', done: '●', cached: '○', blocked: '∅', interrupted: '–', running: '▶',
}

export const sign = (outcome: string) => signs[outcome] ?? '·'
export const tone = (outcome: string) => 'o-' + outcome.replace(' ', '-')

/** An outcome as a sign, with its word for screen readers. */
export function Mark({ of, title }: { of: string; title?: string }) {
  return <span class={'mark ' + tone(of)} title={title ?? of} role="img" aria-label={title ?? of}>{sign(of)}</span>
}

/** An outcome as a sign and a word, or its score. */
export function Verdict({ of, points }: { of: string; points?: number | null }) {
  return <span class={'verdict ' + tone(of)}><span aria-hidden="true">{sign(of)}</span> {points != null && of === 'scored' ? score(points) : of}</span>
}

/** The number of passed tests; a dot without tests. Only groups that caused a failed verdict are red. */
export function Tally({ passed, total, matters = true }: { passed: number; total: number; matters?: boolean }) {
  if (total === 0) return <span class="dim">·</span>
  return <span class={passed === total ? '' : matters ? 'short' : 'fewer'}>{passed}<span class="dim">/{total}</span></span>
}

/** Multi-line text that can have the focus, for scrolling with the keyboard. */
export function Text({ children, class: name }: { children: ComponentChildren; class?: string }) {
  const box = useRef<HTMLPreElement>(null)
  const [scrolls, setScrolls] = useState(false)
  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => setScrolls(box.current!.scrollHeight > box.current!.clientHeight))
    observer.observe(box.current!)
    return () => observer.disconnect()
  }, [])
  return <pre ref={box} class={name} tabIndex={scrolls ? 0 : undefined}>{children}</pre>
}
