import type { ComponentType } from 'preact';
import { Heading } from './heading.js';

/** Marks in the session's storage that the page was reloaded because a part of it was missing. */
const RELOADED = 'trellis-reloaded';

type Load = () => Promise<{ readonly default: ComponentType } | ComponentType>;

/**
 * Loads a page's part of the application. A tab that is older than the server's release asks for files that are no
 * longer there: it is reloaded once, at the address of the page that was asked for. If that does not help, or the
 * server cannot be reached, a page says so.
 */
export async function loadPage(load: Load): Promise<{ readonly default: ComponentType } | ComponentType> {
  try {
    const page = await load();
    sessionStorage.removeItem(RELOADED);
    return page;
  } catch {
    const wasReloaded = sessionStorage.getItem(RELOADED) !== null;
    if (wasReloaded || !(await isServerUp())) return LoadFailed;
    sessionStorage.setItem(RELOADED, 'true');
    location.reload();
    // The old page stays in sight until the new document is there.
    return new Promise(() => undefined);
  }
}

const isServerUp = (): Promise<boolean> =>
  fetch('/healthz', { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );

const LoadFailed = () => (
  <>
    <Heading>This page could not be loaded</Heading>
    <p>The server cannot be reached, or it was updated while this tab was open.</p>
    <button type="button" class="main" onClick={() => location.reload()}>
      Reload
    </button>
  </>
);
