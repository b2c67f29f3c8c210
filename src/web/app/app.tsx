import { render } from 'preact';
import { ErrorBoundary, LocationProvider, Route, Router } from 'preact-iso';
import type { ComponentType } from 'preact';
import { Frame } from './shell/frame.js';
import { Guarded } from './shell/guarded.js';
import { NotFound } from './shell/not-found.js';
import { lazily, PAGES, PAGES_ALONE } from './routes.js';
import type { Page } from './routes.js';
import { dashboard } from './clients.js';
import { loadSession, user } from './session.js';
import { startPreferences } from './shell/preferences.js';
import { repeatAfterSignIn, SignedOut } from './shell/signed-out.js';
import { startTheme } from './shell/theme.js';
import { Toasts } from './shell/toasts.js';

const routes = PAGES.filter(({ isThere }) => isThere).map(toRoute);

/** So long, in milliseconds, nothing is drawn while a page and what it shows may be there at any moment. */
const PATIENCE_MS = 400;

/** Draws the page that the address asks for, at once with what stands around it: its files come with the document. */
export async function start(place: HTMLElement): Promise<void> {
  dashboard.use(repeatAfterSignIn);
  startPreferences();
  startTheme();
  if (user.value === undefined) void loadSession();
  const route = routes.find(({ path }) => path === location.pathname);
  const pause = new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
  // What can't be had is told of by the page itself.
  const ready = Promise.all([route?.load(), user.value ? route?.begin?.() : undefined]).catch(() => undefined);
  await Promise.race([ready, pause]);
  render(<App />, place);
}

function App() {
  return (
    <LocationProvider scope={PAGES_ALONE}>
      <Frame>
        <ErrorBoundary>
          <Router>
            {routes.map(({ path, component }) => (
              <Route key={path} path={path} component={component} />
            ))}
            <Route default component={NotFound} />
          </Router>
        </ErrorBoundary>
      </Frame>
      <Toasts />
      <SignedOut />
    </LocationProvider>
  );
}

interface PageRoute {
  readonly path: string;
  readonly component: ComponentType;
  readonly load: () => Promise<unknown>;
  readonly begin: Page['begin'];
}

function toRoute(page: Page): PageRoute {
  const Content = lazily(page);
  const component = () => (
    <Guarded needs={page.needs}>
      <Content />
    </Guarded>
  );
  return { path: page.path, component, load: Content.preload, begin: page.begin };
}
