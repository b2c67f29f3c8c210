import type { SiteChange } from './site-watcher.js';

/** Formats a change as a line, for example `3 files changed, 1 removed (12 ms)`. */
export function formatChange({ added, changed, removed, folders, milliseconds }: SiteChange): string {
  const parts = Object.entries({ added, changed, removed }).filter(([, count]) => count > 0);
  const texts = parts.map(([word, count], index) => `${index === 0 ? toCount(count, 'file') : toText(count)} ${word}`);
  const line = texts.length > 0 ? texts.join(', ') : `${toCount(folders, 'folder')} added or removed`;
  return `${line} (${Math.ceil(milliseconds)} ms)`;
}

function toCount(count: number, noun: string): string {
  return `${toText(count)} ${noun}${count === 1 ? '' : 's'}`;
}

function toText(count: number): string {
  return count.toLocaleString('en');
}
