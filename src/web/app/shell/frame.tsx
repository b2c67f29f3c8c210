import { useLocation } from 'preact-iso';
import type { ComponentChildren } from 'preact';
import { PAGES } from '../routes.js';
import type { Page } from '../routes.js';
import { instanceLabel } from '../server-facts.js';
import { user } from '../session.js';
import { ActivityPanel } from './activity-panel.js';
import { IssueCount } from './issue-count.js';
import { Menu } from './menu.js';
import { usePreferences } from './preferences.js';

/** What stands around every page: the way past the navigation, the navigation, and the page itself. */
export function Frame({ children }: { readonly children: ComponentChildren }) {
  usePreferences();
  return (
    <>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header class="bar">
        <a class="brand" href="/">
          Trellis {instanceLabel !== '' && <span class="instance">{instanceLabel}</span>}
        </a>
        <Navigation />
        <Account />
      </header>
      <main id="content">{children}</main>
    </>
  );
}

function Navigation() {
  const { path } = useLocation();
  // Links that come one after the other would move those that are there.
  if (user.value === undefined) return <nav aria-label="Pages" />;
  const pages = PAGES.filter(isShown);
  const rest = pages.slice(TABS);
  const link = ({ path: to, name }: Page) => (
    <a href={to} aria-current={isBelow(path, to) ? 'page' : undefined}>
      {name}
      {to === '/issues' && <IssueCount />}
    </a>
  );
  return (
    <nav aria-label="Pages">
      <ul>
        {pages.map((page) => (
          <li key={page.path}>{link(page)}</li>
        ))}
        {rest.length > 0 && (
          <li class={`rest ${rest.some((page) => isBelow(path, page.path)) ? 'current' : ''}`}>
            <Menu name="More" label="More pages">
              {(close) => (
                <div role="presentation" onClick={close}>
                  {rest.map(link)}
                </div>
              )}
            </Menu>
          </li>
        )}
      </ul>
    </nav>
  );
}

/** How many pages stand in the bar of a phone beside the menu of the rest; `frame.css` hides the others there. */
const TABS = 4;

function Account() {
  if (user.value === undefined) return null;
  if (user.value === null) return PAGES.some(({ path, isThere }) => path === '/sign-in' && isThere) ? signIn : null;
  return (
    <>
      <ActivityPanel />
      <span class="who">{user.value.displayName}</span>
    </>
  );
}

const signIn = <a href="/sign-in">Sign in</a>;

function isShown({ name, isThere, needs }: Page): boolean {
  if (name === undefined || !isThere) return false;
  return needs === 'nobody' || (needs === 'person' ? Boolean(user.value) : user.value?.isAdmin === true);
}

const isBelow = (path: string, page: string): boolean => path === page || (page !== '/' && path.startsWith(`${page}/`));
