import { useEffect, useRef } from 'preact/hooks';
import { dashboardClient } from '../clients.js';
import { boardOwner } from './board-store.js';
import type { Board } from './rows.js';

/** Reports to the server, when the page is hidden, which version of their own board the user has seen. */
export function useVisitReport({ generatedAt }: Board): void {
  const seenAt = useRef(generatedAt);
  seenAt.current = generatedAt;
  const isOwn = boardOwner.value === '';
  useEffect(() => {
    if (!isOwn) return;
    const save = (): void => {
      if (document.visibilityState === 'visible') return;
      const body = { seenAt: seenAt.current };
      dashboardClient.PUT('/api/dashboard/visit', { body, keepalive: true }).catch(() => undefined);
    };
    document.addEventListener('visibilitychange', save);
    return () => document.removeEventListener('visibilitychange', save);
  }, [isOwn]);
}
