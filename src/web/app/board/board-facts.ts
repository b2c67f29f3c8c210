import type { BoardFacts } from '../../page-facts.js';
import { pageFacts } from '../server-facts.js';

/** Board data embedded in the document, as of the page load. */
export const boardFacts = pageFacts?.board;

/** The path for which the document was loaded. */
const initialPath = location.pathname;

const consumed = new Set<keyof BoardFacts>();

/** Returns embedded data once, and only to the page for which the document was loaded: later it may be outdated. */
export function takeFact<Name extends keyof BoardFacts>(name: Name): BoardFacts[Name] | undefined {
  if (consumed.has(name) || location.pathname !== initialPath) return undefined;
  consumed.add(name);
  return boardFacts?.[name];
}
