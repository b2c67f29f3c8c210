import { ErrorBoundary, LocationProvider, Route, Router } from 'preact-iso';
import type { ComponentType } from 'preact';
import { Frame } from './shell/frame.js';
import { Guarded } from './shell/guarded.js';
import { NotFound } from './shell/not-found.js';
import { lazily, PAGES } from './routes.js';
import type { Page } from './routes.js';
import { loadSession } from './session.js';
import { startTheme } from './shell/theme.js';
import { Toasts } from './shell/toasts.js';

startTheme();
void loadSession();

const routes = PAGES.filter(({ isThere }) => isThere).map((page) => [page.path, guard(page)] as const);

/** What the server shows by itself is loaded from it, not looked for among the pages. */
const PAGES_ALONE = /^\/(?!(?:api|docs|graphql|healthz|secrets|static)(?:[/?#]|$))/;

export function App() {
  return (
    <LocationProvider scope={PAGES_ALONE}>
      <Frame>
        <ErrorBoundary>
          <Router>
            {routes.map(([path, component]) => (
              <Route key={path} path={path} component={component} />
            ))}
            <Route default component={NotFound} />
          </Router>
        </ErrorBoundary>
      </Frame>
      <Toasts />
    </LocationProvider>
  );
}

function guard(page: Page): ComponentType {
  const Content = lazily(page);
  return () => (
    <Guarded needs={page.needs}>
      <Content />
    </Guarded>
  );
}
