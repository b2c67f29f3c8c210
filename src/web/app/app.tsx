import { render } from 'preact';
import { ErrorBoundary, LocationProvider, Route, Router } from 'preact-iso';
import type { ComponentType } from 'preact';
import { PageLayout } from './ui/page-layout.js';
import { RequireSignIn } from './ui/require-sign-in.js';
import { NotFound } from './ui/not-found.js';
import { toLazyComponent, APP_PAGES, ROUTER_SCOPE } from './routes.js';
import type { AppPage } from './routes.js';
import { dashboardClient } from './clients.js';
import { loadSession, user } from './session.js';
import { startPreferences } from './ui/preferences.js';
import { repeatAfterSignIn, SessionExpired } from './ui/session-expired.js';
import { startTheme } from './ui/theme.js';
import { Toasts } from './ui/toasts.js';

const routes = APP_PAGES.filter(({ isThere }) => isThere).map(toRoute);

/** How long the first drawing waits for the page's files and data. */
const FIRST_DRAW_TIMEOUT_MS = 400;

/** Draws the layout together with the page of the current address, so that neither appears before the other. */
export async function startApp(place: HTMLElement): Promise<void> {
  dashboardClient.use(repeatAfterSignIn);
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
    <LocationProvider scope={ROUTER_SCOPE}>
      <PageLayout>
        <ErrorBoundary>
          <Router>
            {routes.map(({ path, component }) => (
              <Route key={path} path={path} component={component} />
            ))}
            <Route default component={NotFound} />
          </Router>
        </ErrorBoundary>
      </PageLayout>
      <Toasts />
      <SessionExpired />
    </LocationProvider>
  );
}

interface PageRoute {
  readonly path: string;
  readonly component: ComponentType;
  readonly load: () => Promise<unknown>;
  readonly begin: AppPage['begin'];
}

function toRoute(page: AppPage): PageRoute {
  const Content = toLazyComponent(page);
  const component = () => (
    <RequireSignIn needs={page.needs}>
      <Content />
    </RequireSignIn>
  );
  return { path: page.path, component, load: Content.preload, begin: page.begin };
}
