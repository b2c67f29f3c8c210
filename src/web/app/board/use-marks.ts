import { useEffect } from 'preact/hooks';
import { newest, owner } from './board-store.js';
import { markWindow } from './window-marks.js';

/** Shows in the tab's title and icon how many pull requests wait for the user, including those of waiting updates. */
export function useMarks(): void {
  const rows = owner.value === '' ? (newest.value?.pullRequests ?? []) : [];
  const turns = rows.filter(
    ({ section, snooze }) => !snooze && (section === 'needs_your_review' || section === 'returned_to_you'),
  ).length;
  useEffect(() => {
    markWindow(turns, 'Pull requests');
    return () => markWindow(0, 'Pull requests');
  }, [turns]);
}
