import { setTimeout } from 'node:timers/promises';
import type { Site, SiteOptions } from '@trellis/site/site';
import type { SiteChange } from '@trellis/site/watch/site-watcher';
import { type Row, rowsOf, SiteFolder } from '../sources/site-folder.js';

/** A watched site, with its reported changes and problems. */
export class WatchedFolder extends SiteFolder {
  readonly changes: SiteChange[] = [];
  readonly problems: string[] = [];
  #site: Site | undefined;

  async watch(options: Partial<SiteOptions> = {}): Promise<Site> {
    const watch = {
      onChange: (change: SiteChange) => this.changes.push(change),
      onProblem: (message: string) => this.problems.push(message),
    };
    this.#site = await this.open({ watch, ...options });
    return this.#site;
  }

  get site(): Site {
    if (this.#site === undefined) throw new Error('Call watch() first.');
    return this.#site;
  }

  paths(kind: 'File' | 'Directory' = 'File'): string[] {
    return [...this.site.store.rows(kind, ['relativePath'])].map(({ relativePath }) => String(relativePath));
  }

  row(relativePath: string): Row | undefined {
    return rowsOf(this.site, 'File').find((row) => row.relativePath === relativePath);
  }

  /** Waits until no more changes are reported. */
  async rest(): Promise<void> {
    for (let before = -1; before !== this.changes.length;) {
      before = this.changes.length;
      await setTimeout(1200);
    }
  }

  /** Returns the records of a fresh scan of the folder, and those of the watched site. */
  async compare(): Promise<{ fresh: readonly Row[]; live: readonly Row[] }> {
    const { files, directories, images } = await this.scan({ stateDirectory: `${this.base}/fresh-${Date.now()}` });
    const live = (['File', 'Directory', 'ImageProc'] as const).flatMap((kind) => rowsOf(this.site, kind));
    return { fresh: [...files, ...directories, ...images].map(comparable), live: live.map(comparable) };
  }

  override remove(): void {
    this.#site?.close();
    super.remove();
  }
}

/** Removes the time of access, which reading changes, and the position, of which only the order matters. */
function comparable(row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !['atime', 'atimeMs', 'position'].includes(name)));
}
