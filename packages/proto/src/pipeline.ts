/**
 * The pipeline's messages as the rest of Millrace names them. Schema: proto/millrace/pipeline.proto.
 * `IX` is what may be encoded (all optional); the class is what decoding gives (all fields present).
 */
import { millrace } from "./gen/pipeline.js";

export const BatchRequest = millrace.pipeline.BatchRequest;
export const BatchReply = millrace.pipeline.BatchReply;
export const OpenRequest = millrace.pipeline.OpenRequest;
export const OpenReply = millrace.pipeline.OpenReply;
export const Carry = millrace.pipeline.Carry;
export const Rows = millrace.pipeline.Rows;
export const TargetStatus = millrace.pipeline.TargetRow.Status;
export type TargetStatus = millrace.pipeline.TargetRow.Status;
export const LifecycleKind = millrace.pipeline.LifecycleCall.Kind;
export const RefusalReason = millrace.pipeline.StreamRefused.Reason;

export type IBatchRequest = millrace.pipeline.IBatchRequest;
export type IBatchReply = millrace.pipeline.IBatchReply;
export type IOpenRequest = millrace.pipeline.IOpenRequest;
export type IOpenReply = millrace.pipeline.IOpenReply;
export type IOpenStream = millrace.pipeline.IOpenStream;
export type IStreamOpened = millrace.pipeline.IStreamOpened;
export type IStreamRefused = millrace.pipeline.IStreamRefused;
export type IStreamKey = millrace.pipeline.IStreamKey;
export type ICarry = millrace.pipeline.ICarry;
export type IRows = millrace.pipeline.IRows;
export type IInvocationPatch = millrace.pipeline.IInvocationPatch;
export type ITargetRow = millrace.pipeline.ITargetRow;
export type ITestResultRow = millrace.pipeline.ITestResultRow;
export type ITestSummaryRow = millrace.pipeline.ITestSummaryRow;
export type IActionRow = millrace.pipeline.IActionRow;
export type IActionCountRow = millrace.pipeline.IActionCountRow;
export type INamedSetBlock = millrace.pipeline.INamedSetBlock;
export type IConfigurationRow = millrace.pipeline.IConfigurationRow;
export type IMetricsRow = millrace.pipeline.IMetricsRow;
export type IDetailsRow = millrace.pipeline.IDetailsRow;
export type IProblemRow = millrace.pipeline.IProblemRow;
export type IFetchRow = millrace.pipeline.IFetchRow;
export type ITestProgressRow = millrace.pipeline.ITestProgressRow;
export type IUnknownRow = millrace.pipeline.IUnknownRow;
export type IEventSegment = millrace.pipeline.IEventSegment;
export type ILogSegment = millrace.pipeline.ILogSegment;
export type ILifecycleCall = millrace.pipeline.ILifecycleCall;
export type ILifecycleRequest = millrace.pipeline.ILifecycleRequest;
export type IKeyLookupReply = millrace.pipeline.IKeyLookupReply;
export type ILiveDigest = millrace.pipeline.ILiveDigest;
export type ILifecycleReply = millrace.pipeline.ILifecycleReply;
export type IKeyLookupRequest = millrace.pipeline.IKeyLookupRequest;
export type ILeaseRequest = millrace.pipeline.ILeaseRequest;
export type ILeaseReply = millrace.pipeline.ILeaseReply;
export type IWriterHeartbeat = millrace.pipeline.IWriterHeartbeat;
