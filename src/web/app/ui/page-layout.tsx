import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { boardOwner, newestBoard } from '../board/data/board-store.js';
import { instanceLabel, ROUTER_SCOPE } from '../page-data.js';
import { APP_PAGES, type AppPage } from '../routes.js';
import { user } from '../session.js';
import { useScrollPosition } from './address.js';
import { tabStorage } from './browser-storage.js';
import { createCountDown, pendingConfirmation } from './confirmation.js';
import { ProblemText } from './form.js';
import { Avatar, Icon } from './icon.js';
import { Menu } from './menu.js';
import { PaletteButton } from './palette-button.js';
import { usePreferences } from './preferences.js';
import { ActivityPanel, removeToast, type Toast, toasts } from './toasts.js';

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
    if (read !== undefined) tabStorage.setItem(key, String(read));
  }, [key, read]);
  const count = read ?? Number(tabStorage.getItem(key) ?? 0);
  if (count === 0) return null;
  return (
    <span class="badge">
      {count}
      <span class="aside"> open</span>
    </span>
  );
}

/** How long a success message is shown; errors stay until they are dismissed. */
const SHOWN_MS = 6_000;

/** How long an action can be undone: enough time to reach the button with the keyboard. */
const UNDO_MS = 10_000;

/** The element that had the focus before it moved to a message. */
let before: Element | null = null;

/** Removes a message. A focus in it returns to where it was, or to the heading of the page. */
function dismiss(id: number): void {
  const isFocused = document.activeElement?.closest('.toasts') !== null;
  removeToast(id);
  if (!isFocused || document.activeElement === null) return;
  const place = before?.isConnected === true ? before : document.querySelector('h1');
  if (place instanceof HTMLElement) place.focus({ preventScroll: true });
}

export function Toasts() {
  return (
    <div
      class="toasts"
      onFocusIn={({ relatedTarget }) => {
        if (relatedTarget instanceof Element && relatedTarget.closest('.toasts') === null) before = relatedTarget;
      }}
    >
      <div role="status">{listOf('done')}</div>
      <div role="alert">{listOf('failed')}</div>
      <div class="aside" role="status">
        {pendingConfirmation.value?.question}
      </div>
    </div>
  );
}

const listOf = (kind: Toast['kind']) =>
  toasts.value.filter((toast) => toast.kind === kind).map((toast) => <Message key={toast.id} toast={toast} />);

/** A message. The time of a success stands still while it is pointed at or focused, and while the page is hidden. */
function Message({ toast }: { readonly toast: Toast }) {
  const { id, message, kind, undo } = toast;
  const box = useRef<HTMLParagraphElement>(null);
  useLayoutEffect(
    () => (kind === 'done' && box.current !== null ? endLater(box.current, id, undo !== undefined) : undefined),
    [],
  );
  const onUndo = (): void => {
    dismiss(id);
    void undo?.();
  };
  return (
    <p ref={box} class={`toast ${kind}`}>
      <ProblemText problem={toast} />
      {undo !== undefined && (
        <button type="button" class="undo" onClick={onUndo}>
          Undo
        </button>
      )}
      <button type="button" class="plain" aria-label={`Dismiss: ${message}`} onClick={() => dismiss(id)}>
        <span aria-hidden="true">×</span>
      </button>
    </p>
  );
}

/** Dismisses a message after its time. Returns a function that stops it. */
function endLater(box: HTMLElement, id: number, canUndo: boolean): () => void {
  const listeners = new AbortController();
  const { signal: until } = listeners;
  const isUsed = (): boolean => document.hidden || box.matches(':hover') || box.contains(document.activeElement);
  const { update, stop } = createCountDown(canUndo ? UNDO_MS : SHOWN_MS, isUsed, () => dismiss(id));
  for (const event of ['pointerenter', 'pointerleave', 'focusin'])
    box.addEventListener(event, update, { signal: until });
  // The focus has not moved yet.
  box.addEventListener('focusout', () => queueMicrotask(update), { signal: until });
  document.addEventListener('visibilitychange', update, { signal: until });
  update();
  return () => {
    listeners.abort();
    stop();
  };
}
