import type { ComponentType } from 'preact';
import { Heading } from './heading.js';

/** The `sessionStorage` key that is set after a reload because of a missing file. */
const RELOADED = 'trellis-reloaded';

type Load = () => Promise<{ readonly default: ComponentType } | ComponentType>;

/**
 * Loads the bundle of a page. A tab that was opened before an upgrade of the server requests files that no longer
 * exist: it is reloaded once, at the address of the requested page. If that does not help, or the server cannot be
 * reached, an error page is shown.
 */
export async function loadPageBundle(load: Load): Promise<{ readonly default: ComponentType } | ComponentType> {
  try {
    const page = await load();
    sessionStorage.removeItem(RELOADED);
    return page;
  } catch {
    const wasReloaded = sessionStorage.getItem(RELOADED) !== null;
    if (wasReloaded || !(await isServerUp())) return LoadFailed;
    sessionStorage.setItem(RELOADED, 'true');
    location.reload();
    // Keeps the old page visible until the new document is loaded.
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
