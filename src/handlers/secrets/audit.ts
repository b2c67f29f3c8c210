import type { AuditHandlers } from '../../generated/secrets/operations.js';
import type { components } from '../../generated/secrets/types.js';
import type { AuditEntry } from '../../secrets/audit.js';
import type { SecretsServices } from './handlers.js';
import { pageHeaders } from '../paging.js';

export const auditHandlers = ({ audit, basePath }: Pick<SecretsServices, 'audit' | 'basePath'>): AuditHandlers => ({
  async queryAuditLog({ caller, query }) {
    const { object_id: slug, from, to, ...rest } = query;
    const page = await audit.query(caller, { ...rest, slug, from: toDate(from), to: toDate(to) });
    const next = page.next === undefined ? undefined : { ...query, after: page.next };
    return {
      status: 200,
      body: page.entries.map(toBody),
      headers: pageHeaders({ total: page.total, path: `${basePath}/audit-log`, next }),
    };
  },
  async getAuditLogFilterOptions() {
    throw new Error('getAuditLogFilterOptions is not written yet.');
  },
  async verifyAuditLog() {
    throw new Error('verifyAuditLog is not written yet.');
  },
});

function toDate(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text);
}

function toBody(entry: AuditEntry): components['schemas']['AuditLogEntry'] {
  const { id, slug, variantId, subject = '', previousName, action, at, ip, caller, actor } = entry;
  const previous = slug === undefined ? 'previous_name' : 'previous_slug';
  return {
    id,
    object_id: slug ?? subject,
    action,
    timestamp: at.toISOString(),
    ip,
    ...(variantId !== undefined && { variant_id: variantId }),
    ...(caller !== undefined && { caller }),
    ...(actor !== undefined && { actor_type: actor.type, actor_id: actor.id }),
    ...(previousName !== undefined && { [previous]: previousName }),
  };
}
