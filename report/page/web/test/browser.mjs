// Tests a page in a browser: node browser.mjs CHROMIUM WHAT PAGE.html [SHOTS]
// WHAT is views, hostile or large. Errors go to stderr, figures to stdout.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { chromium } from 'playwright-core'

const [executablePath, what, file, shots] = process.argv.slice(2)
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const url = pathToFileURL(file).href
let complaints = 0
const everyView = ['#/summary', '#/leaderboard', '#/matrix', '#/plots', '#/compare', '#/cells', '#/timeline']

function complain(text) {
  complaints++
  console.error(text)
}

const check = (holds, text) => holds || complain(text)

/** Opens a page that reports errors, messages, dialogs and requests. */
async function open(browser, hash, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, ...options })
  page.on('console', m => complain(`${hash}: console: ${m.text()}`))
  page.on('pageerror', e => complain(`${hash}: ${e.stack}`))
  page.on('dialog', d => { complain(`${hash}: dialog: ${d.message()}`); d.dismiss() })
  page.on('request', r => r.url().startsWith('file:') || complain(`${hash}: request of ${r.url()}`))
  await page.goto(url + hash)
  await page.waitForSelector('main')
  return page
}

/** Waits until a view has loaded its data. */
const ready = (page, hash) => page.waitForSelector(hash.startsWith('#/cell/') ? '#tests, #nodes' : hash.startsWith('#/problem/') ? '#grid, article > .note:not([role])' : hash === '#/timeline' ? 'canvas' : hash === '#/plots' ? '.plot' : 'main > h1 + *')

async function rows(page) {
  return page.$$eval('.tr:not(.head) .cover', links => links.map(l => l.getAttribute('href').split('?')[0]))
}

async function firstCell(browser) {
  const page = await open(browser, '#/cells')
  await page.waitForSelector('.cover')
  const [cell] = await rows(page)
  await page.close()
  return cell
}

/** Returns the link of a cell's problem. */
const problemOf = cell => cell.split('/').slice(0, 3).join('/').replace('#/cell', '#/problem')

async function views(browser) {
  const cell = await firstCell(browser), hashes = [...everyView, cell, problemOf(cell)]
  await looks(browser, hashes)
  await keyboard(browser)
  await links(browser)
  await headings(browser, hashes)
  await figures(browser)
  await printed(browser)
}

/** No view is wider than the screen or has serious accessibility violations. */
async function looks(browser, hashes) {
  for (const [width, height] of [[360, 740], [1280, 800], [3840, 2160]]) {
    for (const colorScheme of ['light', 'dark']) {
      const page = await open(browser, hashes[0], { viewport: { width, height }, colorScheme })
      for (const hash of hashes) {
        await page.goto(url + hash)
        await ready(page, hash)
        const name = hash.split('/')[1]
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
        check(wide <= 0, `${name} at ${width}: ${wide} pixels are beyond the edge`)
        if (shots) await page.screenshot({ path: `${shots}/${name}-${width}-${colorScheme}.png` })
        if (width === 3840) continue
        await page.evaluate(axe)
        const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }))
        for (const v of violations.filter(v => ['serious', 'critical'].includes(v.impact))) {
          complain(`${name} at ${width}, ${colorScheme}: ${v.id}: ${v.help}: ${v.nodes.map(n => n.html.slice(0, 120) + ' ' + n.failureSummary).slice(0, 3).join('\n  ')}`)
        }
      }
      await page.close()
    }
  }
}

/** Each view has one first heading, and table headers are not empty. */
async function headings(browser, hashes) {
  const page = await open(browser, hashes[0])
  for (const hash of hashes) {
    await page.goto(url + hash)
    await ready(page, hash)
    const found = await page.evaluate(() => ({ h1: document.querySelectorAll('h1').length, empty: [...document.querySelectorAll('th, [role=columnheader]')].filter(h => h.textContent.trim() === '').length }))
    check(found.h1 === 1 && found.empty === 0, `${hash}: ${found.h1} h1, ${found.empty} empty headers`)
  }
  await page.close()
}

/** Each figure shows its data as a table, and exports both as valid files. */
async function figures(browser) {
  const page = await open(browser, '#/plots'), reader = await browser.newPage()
  await page.waitForSelector('.plot')
  await page.evaluate(() => { // browsers ask before they save several files
    URL.createObjectURL = blob => { globalThis.saved = blob.text(); return '#/plots' }
    HTMLAnchorElement.prototype.click = () => {}
  })
  const count = await page.$$eval('.plot', all => all.length)
  check(count >= 4, `${count} figures`)
  for (let i = 0; i < count; i++) {
    const plot = page.locator('.plot').nth(i), name = await plot.locator('h2').textContent()
    const shapes = await plot.locator('svg > *').count()
    await plot.locator('button:has-text("Table")').click()
    const rows = await plot.locator('tbody tr').count()
    check(shapes > 2 && rows > 0, `${name}: ${shapes} shapes, ${rows} rows`)
    for (const kind of ['SVG', 'CSV']) {
      await plot.locator(`button:has-text("${kind}")`).click()
      const content = await page.evaluate(() => globalThis.saved)
      if (kind === 'CSV') check(content.split('\r\n').length === rows + 2, `${name}: the CSV differs from the table in rows`)
      else check(await reader.evaluate(s => { const d = new DOMParser().parseFromString(s, 'image/svg+xml'); return !d.querySelector('parsererror') && d.documentElement.localName === 'svg' && d.querySelectorAll('g > *').length }, content) === shapes, `${name}: the file differs in shapes`)
    }
  }
  await reader.close()
  await page.close()
}

/** All rows are printed, including those outside of the viewport. */
async function printed(browser) {
  const page = await open(browser, '#/cells', { viewport: { width: 1000, height: 300 } })
  await page.waitForSelector('.cover')
  const all = await page.$eval('.table', t => Number(t.getAttribute('aria-rowcount')) - 1)
  await page.evaluate(() => { addEventListener('beforeprint', () => { globalThis.counted = document.querySelectorAll('.cover').length }) })
  await page.pdf()
  const rows = await page.evaluate(() => globalThis.counted)
  check(rows === all, `${rows} of ${all} rows are printed`)
  await page.close()
}

/** Everything works without a mouse. */
async function keyboard(browser) {
  const page = await open(browser, '#/summary')
  const at = async (want, did) => {
    await page.waitForFunction(w => location.hash.startsWith(w), want, { timeout: 5000 }).catch(async () => complain(`${did}: at ${await page.evaluate(() => location.hash)}, not ${want}`))
  }
  for (const [key, hash] of [['2', '#/leaderboard'], ['3', '#/matrix'], ['4', '#/plots'], ['5', '#/compare'], ['7', '#/timeline'], ['1', '#/summary'], ['6', '#/cells']]) {
    await page.keyboard.press(key)
    await at(hash, key)
  }
  await page.keyboard.press('/')
  await page.waitForFunction(() => document.activeElement.id === 'search')
  await page.keyboard.type('a')
  await at('#/cells?search=a', 'a search')
  await page.keyboard.press('Backspace')
  await page.keyboard.press('Escape')
  await page.waitForFunction(() => document.activeElement.id !== 'search') // so that the table handles keys
  const all = await rows(page)
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await at(all[1] ?? all[0], 'the second row')
  if (all.length > 1) {
    await page.waitForSelector('[rel=prev]')
    await page.keyboard.press('[')
    await at(all[0], '[')
    await page.waitForSelector('[rel=next]')
    await page.keyboard.press(']')
    await at(all[1], ']')
  }
  await page.keyboard.press('3')
  await page.waitForSelector('.matrix')
  await page.keyboard.press('ArrowRight')
  check(await page.evaluate(() => document.activeElement.matches('.matrix') && document.querySelector('.square.active')?.id.endsWith('-1')), 'an arrow key does not move the selection in the matrix')
  await page.keyboard.press('Enter')
  await at('#/cell', 'Enter in the matrix')
  await page.close()
}

/** Links restore the view in a fresh browser. */
async function links(browser) {
  const page = await open(browser, '#/cells')
  await page.waitForSelector('.cover')
  await page.fill('#filter', 'solution=hasty verdict=broken')
  await page.click('.head button:has-text("solution")')
  await page.waitForFunction(() => location.hash.includes('filter=solution%3Dhasty+verdict%3Dbroken') && location.hash.includes('sort=solution'))
  const some = await rows(page), hash = await page.evaluate(() => location.hash)
  const [picked, of] = (await page.textContent('output')).match(/[\d,]+/g)
  check(picked !== '0' && picked !== of, `${picked} of ${of} cells are picked`)
  await page.fill('#filter', 'color=red')
  await page.waitForSelector('#wrong:has-text("no axis")')
  await page.close()

  const other = await open(browser, hash)
  await other.waitForSelector('.cover')
  check(JSON.stringify(await rows(other)) === JSON.stringify(some), `${hash} shows other rows`)
  check(await other.inputValue('#filter') === 'solution=hasty verdict=broken', `${hash} shows another filter`)
  await other.click('.cover')
  await other.waitForSelector('#tests')
  await other.click('nav[aria-label="Cells"] a')
  await other.waitForSelector('.cover')
  check(await other.evaluate(() => location.hash) === hash, 'the link back from a cell does not restore the table')
  await other.goto(url + '#/cell/no/such%20cell')
  await other.waitForSelector('h1:has-text("No such cell")')
  await other.close()
}

/** Untrusted text has no effect. */
async function hostile(browser) {
  const cell = await firstCell(browser)
  for (const hash of [...everyView, cell, problemOf(cell), '#/cells?search=' + encodeURIComponent('<img src=x onerror=alert(1)>\u202e'), '#/cell/' + encodeURIComponent('<script>alert(1)</script>\u202e')]) {
    const page = await open(browser, hash)
    if (hash === cell) {
      await page.waitForSelector('#nodes')
      for (const summary of await page.$$('summary')) await summary.click()
    }
    await page.waitForTimeout(50)
    const found = await page.evaluate(() => ({
      elements: document.querySelectorAll('img, iframe, object, embed, svg:not(.figure), foreignObject, form[action], script[src]').length,
      scripts: [...document.scripts].filter(s => s.type !== 'text/plain').length,
      steering: /[\u202a-\u202e\u2066-\u2069\u0000-\u0008\u001b\u200b]/.test(document.body.innerText + document.title + [...document.querySelectorAll('[title], [aria-label]')].map(e => e.title + e.ariaLabel).join('')),
      text: document.body.innerText,
      wide: document.documentElement.scrollWidth - innerWidth,
    }))
    check(found.elements === 0 && found.scripts === 1, `${hash}: ${found.elements} forbidden elements, ${found.scripts} scripts`)
    check(!found.steering, `${hash}: the page contains control or direction characters`)
    check(found.wide <= 0, `${hash}: ${found.wide} pixels are beyond the edge`)
    if (hash === cell) check(found.text.includes('<script>alert(1)</script>') && found.text.includes('\\u202e'), `${hash}: hostile text is not shown literally:\n${found.text.slice(0, 2000)}`)
    await page.close()
  }
  // The page's policy blocks even injected markup.
  const page = await browser.newPage()
  await page.goto(url)
  await page.waitForSelector('main')
  await page.evaluate(() => {
    const div = document.createElement('div')
    div.innerHTML = '<img src="data:," onerror="window.ran = true"><a href="javascript:window.ran = true">x</a>'
    document.body.append(div)
    div.querySelector('a').click()
  })
  await page.waitForTimeout(200)
  check(await page.evaluate(() => window.ran) === undefined, 'the policy allows inline code')
  await page.close()
}

/** Measures a page with very many cells. Only the printed figures depend on the machine. */
async function large(browser) {
  const page = await open(browser, '#/cells')
  await page.waitForSelector('.cover')
  // On a busy machine, elements can exist before the first paint.
  const first = await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime)
  const paint = await first.jsonValue()
  const count = await page.textContent('output')
  const filters = ['problem=p01*', 'verdict=failed', 'p0150', '*/s0001', 'problem=p01*,verdict=passed', 'solution=s04?9', 'checkpoint=checkpoint_2,verdict=failed', '*checkpoint_3*', 'aggregate:p0001/*', '']
  const times = []
  for (let round = 0; round < 3; round++) {
    for (const filter of filters) {
      times.push(await page.evaluate(async value => {
        const input = document.getElementById('filter')
        const begin = performance.now()
        Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(input, value)
        input.dispatchEvent(new Event('input', { bubbles: true }))
        await new Promise(done => requestAnimationFrame(() => setTimeout(done)))
        return performance.now() - begin
      }, filter))
    }
  }
  times.sort((a, b) => a - b)
  await page.fill('#filter', 'problem=p0199,solution=s0499')
  await page.waitForFunction(() => document.querySelectorAll('.cover').length === 1)
  await page.click('.cover')
  await page.waitForSelector('#tests')
  for (const hash of ['#/matrix', '#/summary', '#/cells?sort=-seconds']) {
    await page.goto(url + hash)
    await page.waitForSelector(hash === '#/matrix' ? '.square' : hash === '#/summary' ? '.counts' : '.cover')
  }
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  await session.send('Performance.enable')
  const { metrics } = await session.send('Performance.getMetrics')
  const heap = metrics.find(m => m.name === 'JSHeapUsedSize').value
  const processes = await (await browser.newBrowserCDPSession()).send('SystemInfo.getProcessInfo')
  const own = processes.processInfo.filter(p => p.type === 'renderer').map(p => {
    try { return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${p.id}/smaps_rollup`, 'utf8'))[1]) / 1024 } catch { return 0 }
  })
  console.log(`${count}: first paint ${Math.round(paint)} ms, filter p50 ${Math.round(times[times.length >> 1])} ms, p95 ${Math.round(times[Math.floor(times.length * 0.95)])} ms, heap ${Math.round(heap / 1e6)} MB, renderer ${Math.round(Math.max(...own))} MiB`)
  await page.close()
}

// Chromium has no sandbox as root.
const browser = await chromium.launch({ executablePath, args: process.getuid() === 0 ? ['--no-sandbox'] : [] })
try {
  await { views, hostile, large }[what](browser)
} catch (e) {
  complain(e.stack)
}
await browser.close()
process.exit(complaints === 0 ? 0 : 1)
