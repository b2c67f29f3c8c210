import { effect, signal } from '@preact/signals';

export type Theme = '' | 'dark' | 'light';

const KEPT_AS = 'trellis-theme';

/** Empty leaves it to the system. Kept in the browser too, so that a page has its colours before the server is asked. */
export const theme = signal<Theme>(toTheme(localStorage.getItem(KEPT_AS)));

export function startTheme(): void {
  effect(() => {
    document.documentElement.style.colorScheme = theme.value === '' ? 'light dark' : theme.value;
    localStorage.setItem(KEPT_AS, theme.value);
  });
}

function toTheme(text: string | null): Theme {
  return text === 'dark' || text === 'light' ? text : '';
}
