import type { AuditHandlers } from '../../generated/secrets/operations.js';
import type { components } from '../../generated/secrets/types.js';
import type { AuditEntry } from '../../secrets/audit/log.js';
import { pageHeaders } from '../paging.js';
import type { SecretsServices } from './services.js';

export const auditHandlers = ({ audit, basePath }: Pick<SecretsServices, 'audit' | 'basePath'>): AuditHandlers => ({
  async queryAuditLog({ caller, query }) {
    const { object_id: slug, subject_type: subjectType, from, to, chain, ...rest } = query;
    const page = await audit.query(caller, { ...rest, slug, subjectType, from: toDate(from), to: toDate(to) });
    const { chain: _default, ...filter } = query;
    const next = page.next === undefined ? undefined : { ...filter, ...(chain && { chain }), after: page.next };
    return {
      status: 200,
      body: page.entries.map((entry) => ({ ...toBody(entry), ...(chain && toChainBody(entry)) })),
      headers: pageHeaders({ total: page.total, path: `${basePath}/audit-log`, next }),
    };
  },

  async getAuditLogFilterOptions({ caller }) {
    const { slugs, actors, callers } = await audit.listFilterOptions(caller);
    return { status: 200, body: { object_ids: [...slugs], actors: [...actors], callers: [...callers] } };
  },

  async verifyAuditLog({ caller, query, signal }) {
    const { head, broken, from, values } = await audit.verify(caller, { ...query, signal });
    const altered = values.altered.map(({ slug, variantId, version, reason }) => ({
      object_id: slug,
      variant_id: variantId,
      version,
      reason,
    }));
    const body = {
      intact: broken === undefined && altered.length === 0,
      entries: head.count,
      ...(head.count > 0 && { head: head.hash }),
      verified_from: from,
      ...(broken && { first_broken_id: broken.id, reason: broken.reason }),
      values: { ...values, altered },
    };
    return { status: 200, body };
  },
});

const toChainBody = ({ chained: { hash, facts } }: AuditEntry) => ({ hash, ...(facts !== undefined && { facts }) });

function toDate(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text);
}

function toBody(entry: AuditEntry): components['schemas']['AuditLogEntry'] {
  const {
    id,
    subjectType,
    slug = '',
    variantId,
    version,
    subjectId,
    previousName,
    action,
    at,
    ip,
    caller,
    actor,
    detail,
  } = entry;
  return {
    id,
    object_id: slug,
    subject_type: subjectType,
    action,
    timestamp: at.toISOString(),
    ip,
    ...(variantId !== undefined && { variant_id: variantId }),
    ...(version !== undefined && { version }),
    ...(subjectId !== undefined && { subject_id: subjectId }),
    ...(caller !== undefined && { caller }),
    ...(actor !== undefined && { actor_type: actor.type, actor_id: actor.id }),
    ...(previousName !== undefined && { previous_slug: previousName }),
    ...toDetailBody(detail),
  };
}

function toDetailBody(detail: AuditEntry['detail']): Partial<components['schemas']['AuditLogEntry']> {
  const { value, digest, recipients, signer, key, previousKey, reason, count, names, rule, issuer, subject } = detail;
  const { device, deviceAddress } = detail;
  return {
    ...(value !== undefined && { value_version: value }),
    ...(digest !== undefined && { value_digest: digest }),
    ...(recipients !== undefined && { recipients: [...recipients] }),
    ...(signer !== undefined && { signer }),
    ...(key !== undefined && { key }),
    ...(previousKey !== undefined && { previous_key: previousKey }),
    ...(reason !== undefined && { reason }),
    ...(count !== undefined && { count }),
    ...(names && { names: [...names] }),
    ...(rule !== undefined && { rule }),
    ...(issuer !== undefined && { token_issuer: issuer }),
    ...(subject !== undefined && { token_subject: subject }),
    ...(device !== undefined && { device }),
    ...(deviceAddress !== undefined && { device_ip: deviceAddress }),
  };
}
