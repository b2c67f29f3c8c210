import { useEffect } from 'preact/hooks';
import { newestBoard, boardOwner } from './board-store.js';
import { setTabBadge } from './tab-badge.js';

/** Shows in the tab's title and icon how many pull requests wait for the user, including those of waiting updates. */
export function useTabBadge(): void {
  const rows = boardOwner.value === '' ? (newestBoard.value?.pullRequests ?? []) : [];
  const turns = rows.filter(
    ({ section, snooze }) => !snooze && (section === 'needs_your_review' || section === 'returned_to_you'),
  ).length;
  useEffect(() => {
    setTabBadge(turns, 'Pull requests');
    return () => setTabBadge(0, 'Pull requests');
  }, [turns]);
}
