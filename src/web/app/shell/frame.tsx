import { useLocation } from 'preact-iso';
import type { ComponentChildren } from 'preact';
import { PAGES } from '../routes.js';
import type { Page } from '../routes.js';
import { user } from '../session.js';
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
          Trellis
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
  return (
    <nav aria-label="Pages">
      <ul>
        {PAGES.filter(isShown).map((page) => (
          <li key={page.path}>
            <a href={page.path} aria-current={isBelow(path, page.path) ? 'page' : undefined}>
              {page.name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Account() {
  if (user.value === undefined) return null;
  if (user.value === null) return PAGES.some(({ path, isThere }) => path === '/sign-in' && isThere) ? signIn : null;
  return <span class="who">{user.value.displayName}</span>;
}

const signIn = <a href="/sign-in">Sign in</a>;

function isShown({ name, isThere, needs }: Page): boolean {
  if (name === undefined || !isThere) return false;
  return needs === 'nobody' || (needs === 'person' ? Boolean(user.value) : user.value?.isAdmin === true);
}

const isBelow = (path: string, page: string): boolean => path === page || (page !== '/' && path.startsWith(`${page}/`));
