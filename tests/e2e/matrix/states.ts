import type { Page, Route } from 'playwright-core';

/** A page of the matrix: its path, and an address with a single entry if it is a list. */
export interface MatrixPage {
  readonly name: string;
  readonly path: string;
  readonly one?: string;
  /** A visitor is not signed in, and a guest is not an admin. By default, the page is opened by the admin. */
  readonly reader?: 'guest' | 'visitor';
  /** A query of the example site for one record, whose id completes the path. */
  readonly record?: string;
}

/** Every page. */
export const MATRIX_PAGES: readonly MatrixPage[] = [
  { name: 'sign-in', path: '/sign-in', reader: 'visitor' },
  { name: 'expired-link', path: '/sign-in#setup=example', reader: 'visitor' },
  { name: 'invitation', path: '/sign-in#invite=example&username=hubot', reader: 'visitor' },
  { name: 'board', path: '/', one: '/?text=receipts' },
  { name: 'issues', path: '/issues', one: '/issues?text=umlauts' },
  { name: 'repositories', path: '/repositories', one: '/repositories?text=shop' },
  { name: 'insights', path: '/insights' },
  { name: 'secrets', path: '/vault', one: '/vault?text=mail' },
  { name: 'new-secret', path: '/vault/new' },
  { name: 'import-secrets', path: '/vault/import' },
  { name: 'consumers', path: '/vault/consumers' },
  { name: 'writers', path: '/vault/writers' },
  { name: 'secret-tokens', path: '/vault/tokens' },
  { name: 'device', path: '/vault/device' },
  { name: 'audit-log', path: '/vault/audit', one: '/vault/audit?objectId=mail-key' },
  { name: 'identity', path: '/vault/identity' },
  { name: 'site', path: '/site?folder=images', one: '/site?folder=images&search=dawn' },
  { name: 'file', path: '/site?file=', record: '{ file(relativePath: { eq: "LICENSE" }) { id } }' },
  { name: 'records', path: '/site/records' },
  { name: 'record', path: '/site/records?kind=Recipe&record=', record: '{ recipe(serves: { eq: 2 }) { id } }' },
  {
    ...{ name: 'transform', path: '/site/transform?file=' },
    record: '{ file(relativePath: { eq: "images/garden-at-dawn.jpg" }) { id } }',
  },
  { name: 'services', path: '/services' },
  { name: 'settings', path: '/settings' },
  { name: 'admin', path: '/admin' },
  { name: 'not-admin', path: '/admin', reader: 'guest' },
  { name: 'not-found', path: '/no/such/page' },
  { name: 'graphiql', path: '/graphql' },
  { name: 'reference', path: '/docs' },
];

export const WIDTHS = [320, 360, 375, 390, 600, 768, 820, 1024, 1280, 1440, 1920] as const;

/** The states that can be made of any page; `empty` needs an account without data. */
export const STATES = ['many', 'one', 'long', 'rtl', 'loading', 'forbidden', 'failing', 'offline', 'ended'] as const;

export type State = (typeof STATES)[number] | 'empty';

/** The requests of pages for data, and not those for the scripts and styles of GraphiQL. */
const IS_DATA = (url: URL): boolean => /^\/(?:api|graphql(?!\/assets)|secrets)(?:\/|$)/.test(url.pathname);

/** Returns the path of a page, complete with the id of its record. */
export async function findPath(origin: string, { path, record }: MatrixPage): Promise<string> {
  if (record === undefined) return path;
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${origin}/graphql`, {
    ...{ method: 'POST', headers, body: JSON.stringify({ query: record }) },
  });
  const { data } = (await response.json()) as { readonly data: Readonly<Record<string, { readonly id: string }>> };
  return path + Object.values(data)[0]!.id;
}

/** Opens a page in a state and waits until it is drawn. */
export async function openState(page: Page, origin: string, entry: MatrixPage, state: State): Promise<void> {
  const { one } = entry;
  const path = await findPath(origin, entry);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  const answer = ANSWERS[state];
  if (answer !== undefined) {
    await page.route(IS_DATA, (route) => (route.request().isNavigationRequest() ? route.continue() : answer(route)));
  }
  await page.goto(origin + (state === 'one' ? (one ?? path) : path));
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  // While the dialog of an ended session is open, its page goes on loading.
  if (state === 'ended') await waitForDialog(page);
  else if (state !== 'loading')
    await page.waitForFunction(
      () => !/(?:Generating|Loading) [^.]*…/.test(document.querySelector('main')?.textContent ?? ''),
    );
  // Swagger UI takes the place of a list of the operations, if the contract could be loaded.
  if (path === '/docs' && state !== 'loading') await page.locator('.opblock, [role=alert]').first().waitFor();
  if (state === 'long') await replaceTexts(page, LONG);
  if (state === 'rtl') await replaceTexts(page, ARABIC);
}

const fail = (status: number, code: string, message: string) => (route: Route) =>
  route.fulfill({ status, json: { error: message, code, requestId: '01JAZ4QX1V6KQ2' } });

const ANSWERS: Readonly<Partial<Record<State, (route: Route) => Promise<void>>>> = {
  // Requests stay open until the next state.
  loading: () => new Promise(() => undefined),
  forbidden: fail(403, 'forbidden', 'Only admins can do this.'),
  failing: fail(500, 'internal', 'Internal error.'),
  offline: (route) => route.abort('internetdisconnected'),
  ended: fail(401, 'unauthorized', 'Expected a session.'),
};

/** Pages without requests of their own, and those for everybody, have no dialog. */
const waitForDialog = (page: Page): Promise<unknown> =>
  page
    .getByRole('dialog')
    .waitFor({ timeout: 1_500 })
    .catch(() => undefined);

// cspell:disable-next-line
const LONG = ' with a longer description than anybody expected Donaudampfschifffahrtselektrizitätenhauptbetriebswerk';
// cspell:disable-next-line
const ARABIC = 'تقريب الضرائب كما يفعل مكتب الضرائب في جميع المتاجر';

/** Replaces the texts that code hosts and users supply by long or by right-to-left ones. */
async function replaceTexts(page: Page, text: string): Promise<void> {
  await page.evaluate((replacement) => {
    const texts = document.querySelectorAll(
      'main :is(.title a, .repo, .chip, .things a:not(.button), .things strong, .things small, td, td a, .bar-row bdi, .entries .name)',
    );
    for (const element of texts) {
      // The name of a bar repeats its text.
      element.closest('.bar-row button')?.removeAttribute('aria-label');
      for (const node of element.childNodes) {
        if (node.nodeType !== Node.TEXT_NODE || (node.textContent ?? '').trim().length < 3) continue;
        node.textContent = replacement.startsWith(' ') ? (node.textContent ?? '') + replacement : replacement;
      }
    }
  }, text);
}
