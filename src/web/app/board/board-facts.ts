import type { BoardFacts } from '../../page-facts.js';
import { pageFacts } from '../server-facts.js';

/** What the document tells of the board, as it was when the page was asked for. */
export const boardFacts = pageFacts?.board;

/** The page that the document was asked for. */
const opened = location.pathname;

const taken = new Set<keyof BoardFacts>();

/** What the document tells, once, and to the page that it was asked for: by the next the server may know better. */
export function takeFact<Name extends keyof BoardFacts>(name: Name): BoardFacts[Name] | undefined {
  if (taken.has(name) || location.pathname !== opened) return undefined;
  taken.add(name);
  return boardFacts?.[name];
}
