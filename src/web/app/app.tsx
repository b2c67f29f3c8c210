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

/** How long the first drawing waits for the page's files and data. */
const FIRST_DRAW_TIMEOUT_MS = 400;

/** Draws the layout together with the page of the current address, so that neither appears before the other. */
export async function start(place: HTMLElement): Promise<void> {
  dashboard.use(repeatAfterSignIn);
  startPreferences();
  startTheme();
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
