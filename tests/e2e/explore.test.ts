import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { eventually } from '../eventually.js';
import { expectAccessible } from './support/axe.js';
import { describeInBrowser } from './support/chromium.js';
import { openSignedInFixture, type PageFixture } from './support/fixtures.js';
import { createKeyboard } from './support/keyboard.js';
import { startWatchedServer, type WatchedServer } from './support/test-server.js';

/** More files than fit on one page of the list. */
const MANY = 64;

describeInBrowser('site pages', () => {
  let site: string;
  let stage: PageFixture;
  let page: Page;

  beforeAll(async () => {
    site = await mkdtemp(path.join(tmpdir(), 'trellis-explored-'));
    await cp('examples/site', site, { recursive: true });
    await mkdir(path.join(site, 'empty'));
    await mkdir(path.join(site, 'many'));
    await Promise.all(
      Array.from({ length: MANY }, (_, index) => writeFile(path.join(site, `many/note-${100 + index}.txt`), 'x')),
    );
    // Tracing outlines for the first time is slow on a busy machine.
    const env = { TRELLIS_QUERY_TIMEOUT_MS: '60000' };
    stage = await openSignedInFixture({ services: 'dashboard,site', args: ['--site', site], env });
    page = stage.page;
  });
  afterAll(async () => {
    await stage.close();
    await rm(site, { recursive: true, force: true });
  });

  const open = (address: string) => page.goto(stage.server.origin + address);
  const entry = (name: string) => page.getByRole('list', { name: 'Folders and files' }).getByRole('link', { name });

  /** Waits until the first entry of the list has this name. */
  const waitForFirst = (name: string) =>
    page.locator('.entries li:first-child .name').getByText(name, { exact: false }).first().waitFor();

  test('the files page lists skipped entries until they are fixed', async () => {
    const broken = Buffer.concat([Buffer.from(`${site}/caf`), Buffer.from([0xe9])]);
    await writeFile(broken, '');
    await eventually(async () => {
      await open('/site');
      await page.getByText('This site has 1 problem.').waitFor({ timeout: 1000 });
    });
    await page.getByText('This site has 1 problem.').click();
    await page.getByRole('listitem').getByText('its name is not valid UTF-8; rename it.').waitFor();
    await page.getByText('caf\\xe9').waitFor();
    await expectAccessible(page);
    await rm(broken);
    await eventually(async () => {
      await open('/site');
      await entry('images').waitFor();
      await page.waitForLoadState('networkidle');
      expect(await page.getByText('This site has 1 problem.').count()).toBe(0);
    });
  });

  test('the files page opens folders and shows a thumbnail of every image', async () => {
    await open('/site');
    await entry('images').click();
    await entry('herbarium.tiff').waitFor();
    await page.waitForFunction(() => {
      const images = [...document.querySelectorAll<HTMLImageElement>('.entries img')];
      return images.length === 6 && images.every(({ complete, naturalWidth }) => complete && naturalWidth > 0);
    });
    await page.getByRole('status').getByText('1 folder, 6 files').waitFor();
    await expectAccessible(page);
    await page.getByRole('navigation', { name: 'Breadcrumbs' }).getByRole('link', { name: 'Site' }).click();
    await entry('recipes').waitFor();
    await entry('empty').click();
    await page.getByText('This folder is empty.').waitFor();
    await open('/site?folder=gone');
    await page.getByText('This folder doesn’t exist or was deleted.').waitFor();
  });

  test('sort order, view and search are part of the address', async () => {
    await open('/site?folder=images');
    await page.getByLabel('Sort by').selectOption('Largest first');
    await page.locator('.entries li:nth-child(2) .name').getByText('garden-at-dawn.jpg').waitFor();
    await page.getByLabel('Sort by').selectOption('Smallest first');
    await page.locator('.entries li:nth-child(2) .name').getByText('trellis-mark.svg').waitFor();
    await page.getByRole('combobox', { name: 'View' }).selectOption('List');
    await page.locator('.entries.list').waitFor();
    await expectAccessible(page);
    await page.reload();
    await page.locator('.entries.list li:nth-child(2) .name').getByText('trellis-mark.svg').waitFor();

    await open('/site');
    await page.getByLabel('Search names').fill('BREAD');
    await page.getByText('1 file with “BREAD” in the name, subfolders included').waitFor();
    await entry('sunflower-bread.md').waitFor();
    await page.getByLabel('Search names').fill('a.*b');
    await page.getByText('No name contains “a.*b”.').waitFor();
  });

  test('the files page paginates many files', async () => {
    await open('/site?folder=many');
    await page.getByText('Page 1 of 2').waitFor();
    await page.getByRole('link', { name: 'Next' }).click();
    await page.getByText('Page 2 of 2').waitFor();
    await waitForFirst('note-160.txt');
    await page.getByRole('link', { name: 'Previous' }).click();
    await waitForFirst('note-100.txt');
  });

  test('the file panel shows all fields of a file and of its child records', async () => {
    await open('/site?folder=images');
    await entry('garden-at-dawn.jpg').click();
    const panel = page.getByRole('region', { name: 'garden-at-dawn.jpg' });
    await panel.getByText('960 × 640 pixels').waitFor();
    await panel.getByText('image/jpeg').waitFor();
    await panel.getByRole('heading', { name: 'ImageProc' }).waitFor();
    await expectAccessible(page);
    await page.reload();
    await panel.getByText('image/jpeg').waitFor();
    await panel.getByRole('button', { name: 'Close' }).click();
    await panel.waitFor({ state: 'detached' });

    await open('/site?folder=recipes');
    await entry('tomato-soup.md').click();
    const soup = page.getByRole('region', { name: 'tomato-soup.md' });
    await soup.getByText('The ingredients.').waitFor();
    await soup.getByText('Roasted tomato soup').first().waitFor();
  });

  test('the file panel says that a file was deleted, and the list reloads', async () => {
    await writeFile(path.join(site, 'garden/fleeting.md'), 'soon deleted');
    await open('/site?folder=garden');
    await waitUntilListed(page, 'fleeting.md');
    await rm(path.join(site, 'garden/fleeting.md'));
    await waitUntilRemoved(stage, 'fleeting.md');
    await entry('fleeting.md').click();
    await page.getByText('This file was moved or deleted.').waitFor();
    await entry('fleeting.md').waitFor({ state: 'detached' });
    expect(stage.takeComplaints()).toEqual([]);
  });

  test('the records page shows the records of every record type', async () => {
    await open('/site/records?kind=SitePage');
    await page.getByText('A page of the site.').waitFor();
    await page.getByRole('navigation', { name: 'Record types' }).getByRole('link', { name: 'Recipe 6' }).click();
    await page.getByRole('link', { name: 'Quince jelly' }).click();
    const panel = page.getByRole('region', { name: 'Recipe', exact: true });
    await panel.getByText('The number of servings.').waitFor();
    await expectAccessible(page);
    await open('/site/records?kind=SitePlugin');
    await page.getByText('This site has no records of this type.').waitFor();
  });

  test('the transform page shows a preview, sizes in bytes, errors at their fields, and the query', async () => {
    await open('/site?folder=images');
    await entry('sunflower.jpg').click();
    await page.getByRole('link', { name: 'Transform image' }).click();
    const shown = page.getByRole('region', { name: 'Image at actual size' }).getByRole('img');
    const width = page.getByLabel('width', { exact: true });
    await width.fill('240');
    await page.waitForFunction(() => document.querySelector<HTMLImageElement>('.stage img')?.width === 240);
    await page.getByLabel('toFormat', { exact: true }).selectOption('WEBP');
    await page.getByRole('img', { name: 'Preview of sunflower.webp' }).waitFor();
    await page.getByRole('row', { name: /For 1\.5× screens [\d,]{4,}/ }).waitFor();
    await expectAccessible(page);

    const quality = page.getByLabel('quality', { exact: true });
    await quality.fill('101');
    await page.getByRole('alert').getByText('Expected quality to be a whole number from 1 to 100').waitFor();
    await page.locator('[name=quality][aria-invalid=true]').waitFor();
    await quality.fill('good');
    await page.getByText('Expected a whole number; received “good”.').waitFor();
    await page.getByText('Fix the highlighted fields').waitFor();
    await quality.fill('60');
    await page.getByText('Fix the highlighted fields').waitFor({ state: 'detached' });

    await page.getByText('More arguments').click();
    await page.getByLabel('highlight').fill('#f5d0a0');
    await page.getByText('Required by duotone.').waitFor();
    await page.getByLabel('shadow').fill('#17614a');
    await page.getByText('Required by duotone.').waitFor({ state: 'detached' });
    await page.waitForURL(/duotone\.shadow=/);
    await page.reload();
    await page.getByText('duotone: {highlight: "#f5d0a0", shadow: "#17614a"}').waitFor();
    await shown.waitFor();

    await page.getByRole('combobox', { name: 'Transform' }).selectOption('fluid');
    await page.getByLabel('maxWidth').fill('300');
    await page.getByLabel('150 pixels wide').check();
    await page.waitForFunction(() => document.querySelector<HTMLImageElement>('.stage img')?.width === 150);
    await page.getByRole('combobox', { name: 'Transform' }).selectOption('resize');
    await page.getByLabel('The image', { exact: true }).waitFor();
    await page.getByRole('combobox', { name: 'Transform' }).selectOption('traced');
    await page.getByRole('img', { name: 'Preview of tracedSVG' }).waitFor();
    await page.getByText('color', { exact: true }).waitFor();
    expect(stage.takeComplaints()).toEqual([]);
  });

  test('records are a table whose columns, sort order, filters and search are in the address', async () => {
    const table = page.getByRole('table', { name: 'Recipe records' });
    const titles = () => table.locator('tbody td:first-child').allTextContents();
    const expectTitles = (expected: readonly string[]): Promise<void> =>
      eventually(async () => expect(await titles()).toEqual(expected));
    await open('/site/records?kind=Recipe');
    await page.getByText('6 records').waitFor();
    await table.getByRole('link', { name: 'serves' }).click();
    await page.waitForURL(/sort=serves$/);
    await eventually(async () => expect((await titles())[0]).toBe('Nettle pasta'));
    await table.getByRole('link', { name: 'serves' }).click();
    await eventually(async () => expect((await titles())[0]).toBe('Quince jelly'));
    await table.locator('th[aria-sort=descending]').getByText('serves').waitFor();

    const conditions = page.getByLabel(/^Condition on/);
    await page.getByRole('combobox', { name: 'Filter', exact: true }).selectOption('tags');
    await conditions.fill('Vegan');
    await page.getByRole('button', { name: 'Apply filter' }).click();
    await page.getByText('4 records found').waitFor();
    await page.getByRole('combobox', { name: 'Filter', exact: true }).selectOption('serves');
    await conditions.fill('many');
    await page.getByRole('button', { name: 'Apply filter' }).click();
    await page.getByRole('status').getByText('serves: A number, or >5, <=10, 5..10.').waitFor();
    await conditions.fill('>=10');
    await conditions.press('Enter');
    await expectTitles(['Quince jelly', 'Pickled beans']);
    await expectAccessible(page);

    await page.getByText('Columns', { exact: true }).click();
    await page.getByRole('checkbox', { name: 'cooked' }).uncheck();
    await table.getByRole('columnheader', { name: 'cooked' }).waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    const address = page.url();
    await page.reload();
    await expectTitles(['Quince jelly', 'Pickled beans']);
    expect(page.url()).toBe(address);
    await table.getByRole('columnheader', { name: 'cooked' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Remove filter serves: >=10' }).click();
    await page.getByText('4 records found').waitFor();
    await page.goBack();
    await expectTitles(['Quince jelly', 'Pickled beans']);

    await page.getByRole('button', { name: 'Clear all' }).click();
    await page.getByLabel('Search texts').fill('lavender');
    await expectTitles(['Crème brûlée with lavender']);
    await page.waitForURL(/search=lavender/);
    await table.getByRole('link', { name: 'Crème brûlée' }).click();
    await page.getByRole('region', { name: 'Recipe', exact: true }).getByText('The number of servings.').waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await expectTitles(['Crème brûlée with lavender']);
    await page.getByLabel('Search texts').fill('nothing-has-this-word');
    await page.getByText('No record matches.').waitFor();
    const link = await page.getByRole('link', { name: 'Open in GraphiQL' }).getAttribute('href');
    const { data } = (await (
      await page.request.post(`${stage.server.origin}/graphql`, {
        data: {
          query: new URLSearchParams(link!.slice('/graphql#'.length)).get('query'),
          variables: { skip: 0, limit: 50, search: 'lavender' },
        },
      })
    ).json()) as { readonly data: { readonly allRecipe: { readonly totalCount: number } } };
    expect(data.allRecipe.totalCount).toBe(1);
    expect(stage.takeComplaints()).toEqual([]);
  });

  test('the transform page compares formats, and the original with a slider; its HTML shows the image', async () => {
    await open('/site?folder=images');
    await entry('garden-at-dawn.jpg').click();
    await page.getByRole('link', { name: 'Transform image' }).click();
    await page.getByRole('combobox', { name: 'Transform' }).selectOption('fluid');
    await page
      .getByRole('row', { name: /\d+ pixels wide [\d,]+ \d+ %/ })
      .first()
      .waitFor();

    const slider = page.getByRole('slider', { name: 'Original' });
    await slider.focus();
    expect(await page.locator('.comparison .original').count()).toBe(0);
    for (let press = 0; press < 10; press += 1) await page.keyboard.press('ArrowRight');
    await page.waitForFunction(() => {
      const image = document.querySelector<HTMLImageElement>('.comparison .original');
      return image?.complete === true && image.naturalWidth === 960;
    });
    expect(await slider.getAttribute('aria-valuetext')).toBe('50 % original on the left');
    const [result, original] = await page
      .locator('.comparison img')
      .evaluateAll((images) => images.map((image) => image.getBoundingClientRect().toJSON() as DOMRect));
    expect(original).toEqual(result);
    expect(await page.locator('.original').evaluate((image) => getComputedStyle(image).clipPath)).toBe(
      'inset(0px 50% 0px 0px)',
    );

    await page.getByRole('button', { name: 'Compare formats' }).click();
    const matrix = page.getByRole('table', { name: 'Bytes by format and quality' });
    await matrix.getByRole('button', { name: /^[\d,]+ ?bytes.*, use PNG with quality 80$/ }).waitFor();
    const cell = matrix.getByRole('button', { name: /^[\d,]+ ?bytes.*, use WEBP with quality 40$/ });
    const bytes = Number(/^[\d,]+/.exec(await cell.innerText())![0].replaceAll(',', ''));
    await expectAccessible(page);
    await cell.click();
    await page.waitForURL(/toFormat=WEBP&quality=40/);
    await matrix.getByRole('button', { name: /use WEBP with quality 40$/, pressed: true }).waitFor();

    await page.getByRole('combobox', { name: 'Transform' }).selectOption('fixed');
    await page.getByRole('region', { name: 'HTML of the picture' }).getByText('<picture>').waitFor();
    await eventually(async () => {
      await page.getByRole('button', { name: /(Copy|Copied) the HTML/ }).click();
      expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/<img src="[^"]+\.webp"/);
    });
    const markup = await page.evaluate(() => navigator.clipboard.readText());
    expect(markup.match(/<source type="image\/(avif|webp)"/g)).toHaveLength(2);
    // A browser takes the first format and shows it.
    const shown = await page.evaluate(async (html) => {
      const place = document.createElement('div');
      place.innerHTML = html;
      document.body.prepend(place);
      const image = place.querySelector('img')!;
      await image.decode();
      const found = { src: image.currentSrc, width: image.naturalWidth };
      place.remove();
      return found;
    }, markup);
    expect(shown.src).toMatch(/\.avif$/);
    expect(shown.width).toBeGreaterThan(0);
    expect(bytes).toBeGreaterThan(0);
    expect(stage.takeComplaints()).toEqual([]);
  });

  test('an unknown address shows a page to browsers and JSON to programs', async () => {
    const response = await open('/nowhere');
    expect([response?.status(), response?.headers()['cache-control']]).toEqual([404, 'private, no-cache']);
    await page.getByRole('heading', { name: 'Page not found', level: 1 }).waitFor();
    await expectAccessible(page);
    const programResponse = await page.request.get(`${stage.server.origin}/nowhere`);
    expect(await programResponse.json()).toMatchObject({ code: 'not_found' });
    await page.getByRole('link', { name: 'Back to the home page' }).click();
    await page.getByRole('heading', { name: 'Pull requests', level: 1 }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Page not found', level: 1 }).waitFor();
    expect(stage.takeComplaints()).toEqual(['404 GET /nowhere']);
  });

  test('files, file panel and transform page work by keyboard', async () => {
    const { press, type, arriveAt, tabTo, pressOn } = createKeyboard(page);
    await open('/site');
    await entry('images').waitFor();
    await tabTo('link "data (folder)"');
    await press('End', 'Home', 'ArrowRight', 'ArrowRight', 'ArrowRight');
    await arriveAt('link "images (folder)"');
    await press('Enter');
    await entry('tomato.png').waitFor();
    await arriveAt('link "beds (folder)"');
    await press('ArrowRight');
    await arriveAt('garden-at-dawn.jpg');
    await press('Enter');
    await arriveAt('heading "garden-at-dawn.jpg"');
    await press('Escape');
    await arriveAt('link "garden-at-dawn.jpg');
    await press('Enter');
    await page.getByRole('link', { name: 'Transform image' }).waitFor();
    await pressOn('link "Transform image"');
    await page.getByLabel('width', { exact: true }).waitFor();
    await tabTo('textbox "width"');
    await type('200');
    await tabTo('combobox "toFormat"');
    await press('w');
    await page.getByRole('img', { name: 'Preview of garden-at-dawn.webp' }).waitFor();
    await pressOn('button "Copy the query"');
    await page.getByRole('button', { name: 'Copied the query' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('fixed(width: 200, toFormat: WEBP)');
    await pressOn('link "Open in GraphiQL"');
    await page.getByText('garden-at-dawn.jpg').first().waitFor();
    await tabTo('button "Execute query');
    await press('Enter');
    await page.getByText('garden-at-dawn.webp').first().waitFor();
    expect(stage.takeComplaints()).toEqual([]);
  });
});

describeInBrowser('site pages with several sources', () => {
  let site: string;
  let house: WatchedServer;
  let page: Page;

  beforeAll(async () => {
    site = await mkdtemp(path.join(tmpdir(), 'trellis-sources-'));
    await write('words/notes/again.md', 'of words');
    await write('words/hello.md', 'hello');
    await write('pictures/notes/again.md', 'of pictures');
    await cp('examples/site/images/tomato.png', path.join(site, 'pictures/tomato.png'));
    const sources = ['words', 'pictures'].map((name) => ({ name, path: name }));
    await write('site.config.json', JSON.stringify({ sources }));
    house = await startWatchedServer({ services: 'site', args: ['--site', site] });
    page = await (await house.enter()).newPage();
  });
  afterAll(async () => {
    await house.close();
    await rm(site, { recursive: true, force: true });
  });

  async function write(name: string, text: string): Promise<void> {
    const file = path.join(site, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }

  const link = (list: string, name: string) => page.getByRole('list', { name: list }).getByRole('link', { name });
  const trail = (name: string) => page.getByRole('navigation', { name: 'Breadcrumbs' }).getByRole('link', { name });
  const expectListed = (names: readonly string[]): Promise<void> =>
    eventually(async () => expect(await page.locator('.entries .name').allTextContents()).toEqual(names));

  test('the files page lists the sources first, then the files of each source', async () => {
    await page.goto(`${house.server.origin}/site`);
    await link('Sources', 'words').waitFor();
    await expectListed(['pictures', 'words']);
    await expectAccessible(page);
    await link('Sources', 'words').click();
    await expectListed(['notes(folder)', 'hello.md']);
    await trail('Site').click();
    await link('Sources', 'pictures').click();
    await expectListed(['notes(folder)', 'tomato.png']);
    await link('Folders and files', 'notes').click();
    await expectListed(['again.md']);
    await link('Folders and files', 'again.md').click();
    await page.getByRole('region', { name: 'again.md' }).getByText('File "pictures/notes/again.md"').waitFor();
    await page.reload();
    await expectListed(['again.md']);
    await trail('pictures').click();
    await expectListed(['notes(folder)', 'tomato.png']);
    expect(house.takeComplaints()).toEqual([]);
  });

  test('the search covers all sources, and results link to their source', async () => {
    await page.goto(`${house.server.origin}/site`);
    await page.getByLabel('Search names').fill('again');
    await page.getByText('2 files with “again” in the name, subfolders included').waitFor();
    await page.getByLabel('Search names').fill('notes');
    await page.getByText('2 folders with “notes” in the name, subfolders included').waitFor();
    await link('Folders and files', 'notes').getByText('in words').waitFor();
    await link('Folders and files', 'notes').filter({ hasText: 'in words' }).click();
    await expectListed(['again.md']);
    await trail('words').waitFor();
    expect(house.takeComplaints()).toEqual([]);
  });
});

/** Reloads the list until the server has indexed a new file. */
const waitUntilListed = (page: Page, name: string): Promise<void> =>
  eventually(async () => {
    await page.getByRole('button', { name: 'Reload' }).click();
    expect(await page.locator('.entries').getByText(name).count()).toBe(1);
  });

/** Waits until the server has noticed that a file was deleted. The page doesn't reload. */
const waitUntilRemoved = ({ page, server }: PageFixture, name: string): Promise<void> =>
  eventually(async () => {
    const query = `{ file(base: {eq: "${name}"}) { id } }`;
    const response = await page.request.post(`${server.origin}/graphql`, { data: { query } });
    expect(await response.json()).toEqual({ data: { file: null } });
  });
