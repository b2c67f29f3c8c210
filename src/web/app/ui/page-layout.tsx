import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import { useEffect } from 'preact/hooks';
import { boardOwner, newestBoard } from '../board/data/board-store.js';
import { instanceLabel, ROUTER_SCOPE } from '../page-data.js';
import { APP_PAGES, type AppPage } from '../routes.js';
import { user } from '../session.js';
import { useScrollPosition } from './address.js';
import { Avatar, Icon } from './icon.js';
import { Menu } from './menu.js';
import { PaletteButton } from './palette-button.js';
import { usePreferences } from './preferences.js';
import { ActivityPanel } from './toasts.js';

/** The layout of every page: skip link, header with navigation, and the page itself. */
export function PageLayout({ children }: { readonly children: ComponentChildren }) {
  usePreferences();
  useScrollPosition(useLocation().path);
  return (
    <>
      <a class="skip" href="#content">
        Skip to content
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
  // Links that are added later would move those already shown.
  if (user.value === undefined) return <nav aria-label="Pages" />;
  const pages = APP_PAGES.filter(isShown);
  const rest = pages.slice(TABS);
  const link = ({ path: to, name, shortName, icon }: AppPage) => (
    <a href={to} aria-current={isBelow(path, to) ? 'page' : undefined}>
      {icon && <Icon name={icon} />}
      <span class={shortName && 'long'}>{name}</span>
      {shortName && <span class="short">{shortName}</span>}
      {to === '/issues' && user.value && <IssueCount username={user.value.username} />}
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
            <Menu
              name={
                <>
                  <Icon name="menu" /> More
                </>
              }
              label="More pages"
            >
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

/** How many pages the navigation bar of a phone shows beside the "More" menu; `frame.css` hides the others. */
const TABS = 4;

function Account() {
  const { route } = useLocation();
  if (user.value === undefined) return null;
  if (user.value === null) return APP_PAGES.some(({ path, isThere }) => path === '/sign-in' && isThere) ? signIn : null;
  return (
    <>
      <PaletteButton onOpen={(href) => (ROUTER_SCOPE.test(href) ? route(href) : location.assign(href))} />
      <ActivityPanel />
      <span class="who">
        <Avatar name={user.value.displayName} />
        <span>{user.value.displayName}</span>
      </span>
    </>
  );
}

const signIn = <a href="/sign-in">Sign in</a>;

function isShown({ name, isThere, needs }: AppPage): boolean {
  if (name === undefined || !isThere) return false;
  return needs === 'public' || (needs === 'user' ? Boolean(user.value) : user.value?.isAdmin === true);
}

const isBelow = (path: string, page: string): boolean => path === page || (page !== '/' && path.startsWith(`${page}/`));

/**
 * The number of open issues on the user's own board. Pages without a board show the number that this tab read last, so
 * that the navigation looks the same on all pages.
 */
function IssueCount({ username }: { readonly username: string }) {
  const key = `trellis-open-issues:${username}`;
  const read = boardOwner.value === '' ? newestBoard.value?.openIssueCount : undefined;
  useEffect(() => {
    if (read !== undefined) sessionStorage.setItem(key, String(read));
  }, [key, read]);
  const count = read ?? Number(sessionStorage.getItem(key) ?? 0);
  if (count === 0) return null;
  return (
    <span class="badge">
      {count}
      <span class="aside"> open</span>
    </span>
  );
}
