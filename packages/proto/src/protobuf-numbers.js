// The one edge where an int64 becomes a number. protobufjs would otherwise read 64-bit fields as Long objects, because
// its own dependency `long` is installed. Numbers are exact to 2^53; nothing we read goes beyond (sequence numbers, byte
// counts, milliseconds). All generated code imports protobufjs through this file, so no message is read before it ran.
import protobuf from "protobufjs/minimal.js";

protobuf.util.Long = null;
protobuf.configure();

export default protobuf;
