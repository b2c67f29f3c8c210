import { effect, signal } from '@preact/signals';

export type Theme = '' | 'dark' | 'light';

const STORAGE_KEY = 'trellis-theme';

/**
 * The selected theme; empty follows the system. Also stored in the browser, so that pages have their colours at once.
 */
export const theme = signal<Theme>(toTheme(localStorage.getItem(STORAGE_KEY)));

export function startTheme(): void {
  effect(() => {
    document.documentElement.style.colorScheme = theme.value === '' ? 'light dark' : theme.value;
    try {
      localStorage.setItem(STORAGE_KEY, theme.value);
    } catch {
      // The storage is full or blocked, so the next page starts with the system's colours.
    }
  });
}

function toTheme(text: string | null): Theme {
  return text === 'dark' || text === 'light' ? text : '';
}
