// The host of a pwsh that serves many bodies: see pwsh-session.ps1, which loads it, for how it is spoken to.
//
// A body gets what a process of its own would give it: descriptors 0, 1 and 2, environment, working directory, and a
// runspace on a host that takes `exit` and $Host.SetShouldExit() for that body's, not for the process's.

using System;
using System.Collections;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Management.Automation;
using System.Management.Automation.Host;
using System.Management.Automation.Runspaces;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Text;
using System.Text.RegularExpressions;

namespace PwshSession
{
    /// <summary>The session cannot go on; the message is its last word, on its own standard error.</summary>
    public sealed class BrokenSession : Exception
    {
        public BrokenSession(string message) : base(message) { }
    }

    /// <summary>Answers requests, one after the other, until their end.</summary>
    public sealed class Session
    {
        const int Broken = 70;      // EX_SOFTWARE of sysexits.h

        static readonly Regex RequestLine = new Regex(@"\A([A-Za-z0-9._-]+) (/\S*) (/\S*)\z");

        readonly string wrapper;
        readonly RecordingHost host;
        readonly Runspaces runspaces;
        readonly Channel channel = new Channel();
        readonly ProcessState state;

        Session(PSHost console, string wrapper, string mode)
        {
            this.wrapper = wrapper;
            host = new RecordingHost(console);
            state = new ProcessState(console);
            runspaces = mode switch
            {
                "fresh" => new FreshRunspaces(host),
                "reused" => new ReusedRunspace(host),
                _ => throw new BrokenSession($"the last argument is {mode}: expected fresh or reused"),
            };
        }

        /// <summary>Serve bodies through the text of the wrapper; return the exit code of the process.</summary>
        public static int Serve(PSHost console, string wrapper, string mode)
        {
            try
            {
                var session = new Session(console, wrapper, mode);
                while (session.channel.Receive() is string line)
                    session.Answer(line);
                return 0;
            }
            catch (Exception error) when (error is BrokenSession or IOException or UnauthorizedAccessException)
            {
                Descriptors.WriteAll(2, Encoding.UTF8.GetBytes($"pwsh-session: {error.Message}\n"));
                return Broken;
            }
        }

        void Answer(string line)
        {
            var parts = RequestLine.Match(line);
            if (!parts.Success)
                throw new BrokenSession($"a request was {line}: expected ID FOLDER DIRECTORY, each without blanks");
            var (id, folder, directory) = (parts.Groups[1].Value, parts.Groups[2].Value, parts.Groups[3].Value);
            var body = Path.Combine(folder, "body");
            if (!File.Exists(body))
                throw new BrokenSession($"{body} is missing");
            BodyEnvironment.Apply(File.ReadAllBytes(Path.Combine(folder, "environment")));
            Directory.SetCurrentDirectory(directory);
            int code;
            using (channel.LendStandardStreams(folder))
            {
                channel.Reply($"{id} opened\n");
                code = Run(body);
                state.Restore();
            }
            channel.Reply($"{id} exited {code}\n");
        }

        int Run(string body)
        {
            host.ExitCode = null;
            var runspace = runspaces.Take();
            Exception escaped = null;
            try
            {
                Invoke(runspace, body);
            }
            catch (Exception error)
            {
                escaped = error;
                ErrorReport.Show(error, runspace, host);
            }
            runspaces.GiveBack(runspace);
            // What Linux keeps of an exit code: https://pubs.opengroup.org/onlinepubs/9799919799/functions/_exit.html
            return host.ExitCode is int exit ? exit & 0xFF : escaped == null ? 0 : 1;
        }

        // As ConsoleHost runs -File: errors go the way of the output, into Out-Default, so that both stay in order.
        // https://github.com/PowerShell/PowerShell/blob/master/src/Microsoft.PowerShell.ConsoleHost/host/msh/Executor.cs
        void Invoke(Runspace runspace, string body)
        {
            using var pipeline = runspace.CreatePipeline();
            var command = new Command(wrapper, isScript: true, useLocalScope: false);
            command.Parameters.Add(null, body);
            command.MergeMyResults(PipelineResultTypes.Error, PipelineResultTypes.Output);
            pipeline.Commands.Add(command);
            pipeline.Commands.Add(new Command(@"Microsoft.PowerShell.Core\Out-Default", isScript: false, useLocalScope: true));
            pipeline.Invoke();
        }
    }

    /// <summary>Where the runspaces of bodies come from.</summary>
    abstract class Runspaces
    {
        readonly PSHost host;
        readonly InitialSessionState initial = InitialSessionState.CreateDefault2();    // that of ConsoleHost

        protected Runspaces(PSHost host) => this.host = host;

        public abstract Runspace Take();
        public abstract void GiveBack(Runspace runspace);

        protected Runspace Open()
        {
            var runspace = RunspaceFactory.CreateRunspace(host, initial);
            runspace.ThreadOptions = PSThreadOptions.ReuseThread;
            runspace.Open();
            return runspace;
        }
    }

    /// <summary>A new runspace for each body.</summary>
    sealed class FreshRunspaces : Runspaces
    {
        public FreshRunspaces(PSHost host) : base(host) { }

        public override Runspace Take() => Open();

        // Before the body's streams are given up: PowerShell.Exiting handlers of the body may still write.
        public override void GiveBack(Runspace runspace) => runspace.Dispose();
    }

    /// <summary>One runspace for all bodies: what a body leaves in it, the next one finds.</summary>
    sealed class ReusedRunspace : Runspaces
    {
        Runspace kept;

        public ReusedRunspace(PSHost host) : base(host) { }

        public override Runspace Take()
        {
            kept ??= Open();
            if (kept.RunspaceStateInfo.State != RunspaceState.Opened)
                throw new BrokenSession("a body closed the runspace that the next one was to use");
            kept.SessionStateProxy.Path.SetLocation(WildcardPattern.Escape(Environment.CurrentDirectory));
            return kept;
        }

        public override void GiveBack(Runspace runspace)
        {
            runspace.SessionStateProxy.InvokeCommand.PreCommandLookupAction = null;
            PSObject.AsPSObject(runspace.SessionStateProxy.GetVariable("Host")).Methods.Remove("SetShouldExit");
        }
    }

    /// <summary>The real host, but that an exit ends the body and not the process.</summary>
    sealed class RecordingHost : PSHost
    {
        readonly PSHost console;

        public RecordingHost(PSHost console) => this.console = console;

        public int? ExitCode { get; set; }

        public override CultureInfo CurrentCulture => console.CurrentCulture;
        public override CultureInfo CurrentUICulture => console.CurrentUICulture;
        public override Guid InstanceId { get; } = Guid.NewGuid();
        public override string Name => console.Name;
        public override PSObject PrivateData => console.PrivateData;
        public override PSHostUserInterface UI => console.UI;
        public override Version Version => console.Version;
        public override void EnterNestedPrompt() => console.EnterNestedPrompt();
        public override void ExitNestedPrompt() => console.ExitNestedPrompt();
        public override void NotifyBeginApplication() => console.NotifyBeginApplication();
        public override void NotifyEndApplication() => console.NotifyEndApplication();
        public override void SetShouldExit(int exitCode) => ExitCode = exitCode;
    }

    /// <summary>Shows the error that ended a body, as ConsoleHost.ReportException does.</summary>
    static class ErrorReport
    {
        // Tells Out-Default that the object is of the error stream; what MergeMyResults sets on errors, and not public.
        static readonly PropertyInfo WriteStream =
            typeof(PSObject).GetProperty("WriteStream", BindingFlags.Instance | BindingFlags.NonPublic);

        public static void Show(Exception error, Runspace runspace, PSHost host)
        {
            try
            {
                var record = (error as IContainsErrorRecord)?.ErrorRecord
                    ?? new ErrorRecord(error, "ConsoleHost.ReportException", ErrorCategory.NotSpecified, null);
                var shown = new PSObject(record);
                WriteStream.SetValue(shown, Enum.Parse(WriteStream.PropertyType, "Error"));
                using var pipeline = runspace.CreatePipeline();
                pipeline.Commands.Add(@"Microsoft.PowerShell.Core\Out-Default");
                pipeline.Input.Write(shown);
                pipeline.Input.Close();
                pipeline.Invoke();
            }
            catch (Exception)
            {
                host.UI.WriteErrorLine(error.Message);
            }
        }
    }

    /// <summary>The environment of a body.</summary>
    static class BodyEnvironment
    {
        static readonly string Home = Path.GetDirectoryName(typeof(PSObject).Assembly.Location) + Path.PathSeparator;

        /// <summary>Make the environment of this process what `block` says: NAME=VALUE, each ended by a NUL.</summary>
        public static void Apply(byte[] block)
        {
            var wanted = new Dictionary<string, string>();
            foreach (var entry in Encoding.UTF8.GetString(block).Split('\0', StringSplitOptions.RemoveEmptyEntries))
            {
                var equals = entry.IndexOf('=', 1);
                if (equals > 0)
                    wanted[entry.Substring(0, equals)] = entry.Substring(equals + 1);
            }
            // pwsh does so at its start, so that pwsh in a body is the same one:
            // https://github.com/PowerShell/PowerShell/blob/master/src/Microsoft.PowerShell.ConsoleHost/host/msh/ConsoleHost.cs
            var path = wanted.GetValueOrDefault("PATH");
            if (path == null || !path.StartsWith(Home, StringComparison.Ordinal))
                wanted["PATH"] = Home + path;
            foreach (DictionaryEntry old in Environment.GetEnvironmentVariables())
                if (!wanted.ContainsKey((string)old.Key))
                    Environment.SetEnvironmentVariable((string)old.Key, null);
            foreach (var (name, value) in wanted)
                Environment.SetEnvironmentVariable(name, value);
        }
    }

    /// <summary>What a body can change of the process, as it was before the first one.</summary>
    sealed class ProcessState
    {
        readonly Encoding input = Console.InputEncoding, output = Console.OutputEncoding;
        readonly CultureInfo culture = CultureInfo.DefaultThreadCurrentCulture;
        readonly CultureInfo uiCulture = CultureInfo.DefaultThreadCurrentUICulture;
        readonly string directory = Environment.CurrentDirectory;

        public ProcessState(PSHost console)
        {
        }

        public void Restore()
        {
            Directory.SetCurrentDirectory(Directory.Exists(directory) ? directory : "/");
            Console.InputEncoding = input;
            Console.OutputEncoding = output;
            CultureInfo.DefaultThreadCurrentCulture = culture;
            CultureInfo.DefaultThreadCurrentUICulture = uiCulture;
            Environment.ExitCode = 0;
            AppContext.SetData("pwsh-preserving: decide", null);
            AppContext.SetData("pwsh-preserving: last look-up", null);
        }
    }

    /// <summary>The descriptors of the session: requests and replies, and 0, 1 and 2, which it lends to bodies.</summary>
    sealed class Channel
    {
        readonly int requests, replies, messages, nothing;
        readonly byte[] buffer = new byte[8192];
        readonly StringBuilder line = new StringBuilder();
        int start, end;

        public Channel()
        {
            requests = Descriptors.Copy(0);
            replies = Descriptors.Copy(1);
            messages = Descriptors.Copy(2);
            nothing = Descriptors.Copy(Descriptors.Open("/dev/null", Descriptors.ReadWrite));
            Descriptors.Replace(0, nothing);
            Descriptors.Replace(1, nothing);
        }

        /// <summary>Return the next request, or null at the end of requests.</summary>
        public string Receive()
        {
            line.Clear();
            while (true)
            {
                if (start == end)
                {
                    (start, end) = (0, Descriptors.Read(requests, buffer, 0, buffer.Length));
                    if (end == 0)
                        return line.Length == 0 ? null : throw new BrokenSession("the requests ended within a line");
                }
                var next = (char)buffer[start++];
                if (next == '\n')
                    return line.ToString();
                line.Append(next);
            }
        }

        public void Reply(string text)
        {
            if (!Descriptors.WriteAll(replies, Encoding.ASCII.GetBytes(text)))
                throw new BrokenSession("nobody reads the replies any more");
        }

        /// <summary>Put the streams in `folder` on 0, 1 and 2, until what is returned is disposed.</summary>
        public IDisposable LendStandardStreams(string folder)
        {
            Descriptors.Adopt(0, Descriptors.Open(Path.Combine(folder, "stdin"), Descriptors.ReadOnly));
            Descriptors.Adopt(1, Descriptors.Open(Path.Combine(folder, "stdout"), Descriptors.WriteOnly));
            Descriptors.Adopt(2, Descriptors.Open(Path.Combine(folder, "stderr"), Descriptors.WriteOnly));
            Console.SetIn(new StreamReader(new DescriptorStream(0), Console.InputEncoding, false, 4096));
            Console.SetOut(new ConsoleWriter(1));
            Console.SetError(new ConsoleWriter(2));
            return new Loan(this);
        }

        sealed class Loan : IDisposable
        {
            readonly Channel channel;

            public Loan(Channel channel) => this.channel = channel;

            public void Dispose()
            {
                Console.Out.Flush();
                Console.Error.Flush();
                Descriptors.Replace(0, channel.nothing);
                Descriptors.Replace(1, channel.nothing);
                Descriptors.Replace(2, channel.messages);
            }
        }
    }

    /// <summary>Text for a descriptor, in the encoding that Console.OutputEncoding says at that moment.</summary>
    sealed class ConsoleWriter : TextWriter
    {
        readonly Stream stream;
        Encoding chosen;
        StreamWriter writer;

        public ConsoleWriter(int descriptor) : base(CultureInfo.InvariantCulture) => stream = new DescriptorStream(descriptor);

        public override Encoding Encoding => Console.OutputEncoding;

        public override void Write(char value) => Current.Write(value);
        public override void Write(char[] text, int index, int count) => Current.Write(text, index, count);
        public override void Write(ReadOnlySpan<char> text) => Current.Write(text);
        public override void Write(string text) => Current.Write(text);
        public override void WriteLine(string text) => Current.WriteLine(text);
        public override void Flush() => Current.Flush();

        StreamWriter Current
        {
            get
            {
                var wanted = Console.OutputEncoding;
                if (writer == null || !wanted.Equals(chosen))
                {
                    chosen = wanted;
                    writer = new StreamWriter(stream, wanted is UTF8Encoding ? new UTF8Encoding(false) : wanted, 4096) { AutoFlush = true };
                }
                return writer;
            }
        }
    }

    /// <summary>The bytes of a descriptor; as in Console's own streams, a pipe that nobody reads takes everything.</summary>
    sealed class DescriptorStream : Stream
    {
        readonly int descriptor;

        public DescriptorStream(int descriptor) => this.descriptor = descriptor;

        public override bool CanRead => descriptor == 0;
        public override bool CanWrite => descriptor != 0;
        public override bool CanSeek => false;
        public override long Length => throw new NotSupportedException();
        public override long Position { get => throw new NotSupportedException(); set => throw new NotSupportedException(); }
        public override void Flush() { }
        public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();
        public override void SetLength(long value) => throw new NotSupportedException();
        public override int Read(byte[] target, int offset, int count) => Descriptors.Read(descriptor, target, offset, count);
        public override void Write(byte[] source, int offset, int count) =>
            Descriptors.WriteAll(descriptor, source.AsSpan(offset, count).ToArray());
    }

    /// <summary>System calls on descriptors, without their interruptions.</summary>
    static class Descriptors
    {
        public const int ReadOnly = 0, WriteOnly = 1, ReadWrite = 2;
        const int Lowest = 100;     // out of the way of a body that names descriptors itself
        const int Interrupted = 4, BrokenPipe = 32;
        static readonly int CloseOnExec = OperatingSystem.IsMacOS() ? 0x1000000 : 0x80000;
        static readonly int CopyCloseOnExec = OperatingSystem.IsMacOS() ? 67 : 1030;

        public static int Open(string path, int flags) =>
            Checked(() => open(path, flags | CloseOnExec, 0), $"{path} cannot be opened");

        /// <summary>Return a copy that no child inherits.</summary>
        public static int Copy(int descriptor) =>
            Checked(() => fcntl(descriptor, CopyCloseOnExec, Lowest), $"descriptor {descriptor} cannot be copied");

        /// <summary>Make `descriptor`, which children inherit, the same file as `source`.</summary>
        public static void Replace(int descriptor, int source) =>
            Checked(() => dup2(source, descriptor), $"descriptor {descriptor} cannot be replaced");

        /// <summary>Replace, and close `source`.</summary>
        public static void Adopt(int descriptor, int source)
        {
            Replace(descriptor, source);
            close(source);
        }

        public static int Read(int descriptor, byte[] target, int offset, int count)
        {
            var part = offset == 0 ? target : new byte[count];
            var taken = (int)Checked(() => read(descriptor, part, (nint)count), $"descriptor {descriptor} cannot be read");
            if (part != target)
                Array.Copy(part, 0, target, offset, taken);
            return taken;
        }

        /// <summary>Write all of `bytes`; tell whether there is still somebody who reads them.</summary>
        public static bool WriteAll(int descriptor, byte[] bytes)
        {
            while (bytes.Length > 0)
            {
                var written = write(descriptor, bytes, bytes.Length);
                if (written < 0 && Marshal.GetLastPInvokeError() == BrokenPipe)
                    return false;
                if (written < 0 && Marshal.GetLastPInvokeError() != Interrupted)
                    throw new IOException($"descriptor {descriptor} cannot be written: {Marshal.GetLastPInvokeErrorMessage()}");
                bytes = bytes.AsSpan(Math.Max(0, (int)written)).ToArray();
            }
            return true;
        }

        static T Checked<T>(Func<T> call, string complaint) where T : System.Numerics.INumber<T>
        {
            while (true)
            {
                var result = call();
                if (result >= T.Zero)
                    return result;
                if (Marshal.GetLastPInvokeError() != Interrupted)
                    throw new IOException($"{complaint}: {Marshal.GetLastPInvokeErrorMessage()}");
            }
        }

        [DllImport("libc", SetLastError = true)] static extern int open(string path, int flags, int mode);
        [DllImport("libc", SetLastError = true)] static extern int close(int descriptor);
        [DllImport("libc", SetLastError = true)] static extern int dup2(int source, int descriptor);
        [DllImport("libc", SetLastError = true)] static extern int fcntl(int descriptor, int command, int argument);
        [DllImport("libc", SetLastError = true)] static extern nint read(int descriptor, byte[] buffer, nint count);
        [DllImport("libc", SetLastError = true)] static extern nint write(int descriptor, byte[] buffer, nint count);
    }
}
