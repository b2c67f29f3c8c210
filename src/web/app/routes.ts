import { lazy } from 'preact-iso';
import type { ComponentType } from 'preact';
import { runs } from './server-facts.js';

export interface Page {
  readonly path: string;
  /** As the navigation calls it; pages without are reached from others. */
  readonly name?: string;
  readonly load: () => Promise<{ readonly default: ComponentType } | ComponentType>;
  readonly needs: 'admin' | 'nobody' | 'person';
  readonly isThere: boolean;
}

/** Every page, in the order of the navigation; each is loaded when it is first shown. */
export const PAGES: readonly Page[] = [
  {
    path: '/sign-in',
    load: () => import('./sign-in/sign-in-page.js').then(({ SignInPage }) => SignInPage),
    needs: 'nobody',
    isThere: runs('dashboard') || runs('secrets'),
  },
];

/** A page of its own bundle. */
export const lazily = ({ load }: Page): ComponentType => lazy(load);
