import './style/base.css';
import './style/forms.css';
import './style/frame.css';
import './style/pieces.css';
import { type ComponentType, render } from 'preact';
import { ErrorBoundary, lazy, LocationProvider, Route, Router, useLocation } from 'preact-iso';
import { useState } from 'preact/hooks';
import { dashboardClient, limitWait, loadDocumentsWhenOutdated, loadInTime } from './api.js';
import { ROUTER_SCOPE } from './page-data.js';
import { APP_PAGES, type AppPage } from './routes.js';
import { checkRestoredSession, followSignIns, loadSession, user } from './session.js';
import { tabStorage } from './ui/browser-storage.js';
import { Heading } from './ui/headings.js';
import { PageLayout, Toasts } from './ui/page-layout.js';
import { startPreferences, startTheme } from './ui/preferences.js';
import { repeatAfterSignIn, RequireSignIn, SessionExpired } from './ui/require-sign-in.js';

const routes = APP_PAGES.filter(({ isThere }) => isThere).map(toRoute);

/** How long the first drawing waits for the page's files and data. */
const FIRST_DRAW_TIMEOUT_MS = 400;

/** Draws the layout together with the page of the current address, so that neither appears before the other. */
async function startApp(): Promise<void> {
  const place = document.getElementById('app');
  if (place === null) throw new Error('The document has no element with the id "app".');
  dashboardClient.use(repeatAfterSignIn);
  loadDocumentsWhenOutdated();
  startPreferences();
  startTheme();
  checkRestoredSession();
  followSignIns();
  if (user.value === undefined) void loadSession();
  const route = routes.find(({ path }) => path === location.pathname);
  const pause = new Promise((resolve) => setTimeout(resolve, FIRST_DRAW_TIMEOUT_MS));
  // The page reports its own loading errors.
  const ready = Promise.all([route?.load(), user.value ? route?.begin?.() : undefined]).catch(() => undefined);
  await Promise.race([ready, pause]);
  render(<App />, place);
}

function App() {
  return (
    <LocationProvider scope={ROUTER_SCOPE}>
      <PageLayout>
        <ErrorBoundary>
          <Pages />
        </ErrorBoundary>
      </PageLayout>
      <Toasts />
      <SessionExpired />
    </LocationProvider>
  );
}

function Pages() {
  // The router cannot decode such an address.
  if (hasInvalidEscape(useLocation().path)) return <NotFound />;
  return (
    <Router>
      {routes.map(({ path, component }) => (
        <Route key={path} path={path} component={component} />
      ))}
      <Route default component={NotFound} />
    </Router>
  );
}

function hasInvalidEscape(path: string): boolean {
  try {
    return decodeURIComponent(path).includes('\0');
  } catch {
    return true;
  }
}

function NotFound() {
  return (
    <section class="narrow">
      <Heading>Page not found</Heading>
      <p>There is no page at this address.</p>
      <p>
        <a class="button" href="/">
          Back to the home page
        </a>
      </p>
    </section>
  );
}

interface PageRoute {
  readonly path: string;
  readonly component: ComponentType;
  readonly load: () => Promise<unknown>;
  readonly begin: AppPage['begin'];
}

/** Creates a route whose component loads the page's bundle when it is first drawn, and at the next visit after a failure. */
function toRoute({ path, needs, load, begin }: AppPage): PageRoute {
  const createContent = () =>
    lazy(async () => {
      const page = await loadPageBundle(load);
      if (page === LoadFailed) Content = createContent();
      return page;
    });
  let Content: ReturnType<typeof lazy<ComponentType>> = createContent();
  const component = () => {
    const [Shown] = useState(() => Content);
    return (
      <RequireSignIn needs={needs}>
        <Shown />
      </RequireSignIn>
    );
  };
  return { path, component, load: () => Content.preload(), begin };
}

/**
 * Loads the bundle of a page. A tab that was opened before an upgrade of the server requests files that no longer
 * exist: it is reloaded once, at the address of the requested page. If that does not help, or the server cannot be
 * reached, an error page is shown.
 */
async function loadPageBundle(load: AppPage['load']): ReturnType<AppPage['load']> {
  try {
    const page = await loadInTime(load());
    tabStorage.removeItem(RELOADED);
    return page;
  } catch (error) {
    const isLate = error instanceof DOMException;
    const wasReloaded = tabStorage.getItem(RELOADED) !== null;
    if (isLate || wasReloaded || !(await isServerUp())) return LoadFailed;
    // The next document would not know of this reload, and reload again.
    if (!tabStorage.setItem(RELOADED, 'true')) return LoadFailed;
    location.reload();
    // Keeps the old page visible until the new document is loaded.
    return new Promise(() => undefined);
  }
}

/** The `sessionStorage` key that is set after a reload because of a missing file. */
const RELOADED = 'trellis-reloaded';

const isServerUp = (): Promise<boolean> =>
  fetch('/healthz', { cache: 'no-store', signal: limitWait() }).then(
    ({ ok }) => ok,
    () => false,
  );

const LoadFailed = () => (
  <section class="narrow">
    <Heading>This page could not be loaded</Heading>
    <p>The server cannot be reached, or it was updated while this tab was open.</p>
    <button type="button" class="main" onClick={() => location.reload()}>
      Reload
    </button>
  </section>
);

// Not awaited: the bundles of pages import this module and wait until it has run.
void startApp();
